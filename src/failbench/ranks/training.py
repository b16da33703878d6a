"""Training of one rank: the recorder's loop, whose gradients are averaged with another process."""

from __future__ import annotations

import hashlib
import os
import signal
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from failbench.monitor.monitor import Monitor
from failbench.monitor.ranks import checksums
from failbench.monitor.vocabulary import Vocabulary
from failbench.ranks.causes import RANKS, PlannedRanks, Reduction
from failbench.recording.architectures import Examples, build_model
from failbench.recording.corpus import PAD, UNKNOWN, CorpusSlice, load_corpus
from failbench.recording.loop import VALIDATION_SEQUENCES, TrainingRun, row_record
from failbench.recording.memory import MemoryMeter
from failbench.recording.paths import package_relative

CHECKPOINT_EVERY, LOG_EVERY = 20, 10  # steps
BUCKETS: Final = 4  # of the averaging by hand, all of one size


class RankRun(TrainingRun):
    """One rank's run: its share of the documents, and the parts that faults of ranks replace."""

    def __init__(
        self, *, rank: int, reduction: Reduction, tell: Callable[[str], None], **parts: Any
    ) -> None:
        super().__init__(**parts)
        self.rank, self.ranks, self.reduction, self.tell = rank, RANKS, reduction, tell
        training = self.corpus.training[rank::RANKS]
        self.corpus = CorpusSlice(training, self.corpus.validation, self.corpus.statistics)
        self.data_generator = np.random.default_rng([self.seeds.data, rank])
        self.average: Callable[[], None] = self._average
        self.bucket_order: Callable[[int], Sequence[int]] = range
        self.share_loss: Callable[[], None] = self._share_loss
        self.mean_loss = 0.0
        self.called: nn.Module

    def build(self) -> None:
        """Build model, optimizer and the validation set, and attach the monitor."""
        torch.manual_seed(self.seeds.model)
        self.model = build_model(self.architecture, self.settings.size)
        self.called = self.model
        if self.reduction == "ddp":
            self.called = DistributedDataParallel(self.model)
        self.optimizer = self.make_optimizer()
        if self.nominal.distractor == "memory_ballast":
            self.ballast = torch.ones(int(self.nominal.distractor_share * 2**22))
        generator = np.random.default_rng(self.seeds.validation)
        self.validation_texts = self._passages(
            self.corpus.validation, VALIDATION_SEQUENCES, generator
        )
        self.monitor.watch(self.called, self.optimizer)
        self.batches = iter(self.monitor.data(iter(self._read_batch, None)))

    def end_step(self) -> None:
        """What follows a step: now and then a logged loss and a checkpoint, and what faults do."""
        if self.step % LOG_EVERY == LOG_EVERY - 1:
            self.share_loss()
        if self.step % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1:
            path = self.scratch / f"rank{self.rank}-{self.step:04d}.pt"
            torch.save(self.model.state_dict(), path)
        self.between_steps()

    def _forward(self, examples: Examples) -> Tensor:
        model = self.called if self.model.training else self.model
        logits: Tensor = model(examples)
        return logits

    def _backward(self, loss: Tensor) -> None:
        loss.backward()
        if self.reduction == "by_hand":
            self.average()

    def _average(self) -> None:
        gradients = [each.grad for each in self.model.parameters() if each.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        size = -(-flat.numel() // BUCKETS)
        buckets = list(nn.functional.pad(flat, (0, BUCKETS * size - flat.numel())).split(size))
        for index in self.bucket_order(BUCKETS):
            distributed.all_reduce(buckets[index])
        means = torch.cat(buckets)[: flat.numel()] / self.ranks
        for gradient, mean in zip(
            gradients, means.split([each.numel() for each in gradients]), strict=True
        ):
            gradient.copy_(mean.view_as(gradient))

    def _share_loss(self) -> None:
        total = torch.tensor(self.row.loss)
        distributed.all_reduce(total)
        self.mean_loss = total.item() / self.ranks


@dataclass(frozen=True)
class RankOrder:
    """What the process of a rank needs to execute its part of a run."""

    planned: PlannedRanks
    rank: int
    capacity_bytes: int
    timeout_seconds: float
    corpus_cache: str
    scratch: str
    log: str

    @property
    def is_faulty(self) -> bool:
        """Whether the fault begins on this rank."""
        planned = self.planned
        return planned.onset_step is not None and planned.guilty_rank in (None, self.rank)


def main(order: RankOrder, channel: Connection) -> None:
    """The process of a rank: trains, and tells each step and the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # what the monitor does not measure is in its log; the recorder's terminal is not the place
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"failbench\.monitor")
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{order.scratch}/store",
        rank=order.rank,
        world_size=RANKS,
        timeout=timedelta(seconds=order.timeout_seconds),
    )
    meter = MemoryMeter()
    try:
        run = _run(order, channel, meter)
        _train(run, order, channel)
    except BaseException as error:  # whatever ends the run is what is recorded
        meter.lift()
        kind = type(error)
        module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        content = (f"{module}{kind.__qualname__}", package_relative(str(error)))
        channel.send(("exception", content))
        os._exit(1)  # as a script that ends: its sockets close with it
    distributed.destroy_process_group()


def _run(order: RankOrder, channel: Connection, meter: MemoryMeter) -> RankRun:
    corpus = load_corpus(Path(order.corpus_cache))
    planned = order.planned

    def hold(agent: str, _: int) -> None:
        channel.send(("hold", agent))
        channel.recv()

    before = meter.read()
    vocabulary = Vocabulary(corpus.tokenizer.get_vocab_size(), PAD, UNKNOWN)
    # without a budget, what is measured is the same on any machine
    monitor = Monitor(order.log, vocabulary=vocabulary, budget=None)
    meter.leave_out(meter.read() - before)
    meter.limit(order.capacity_bytes)
    return RankRun(
        rank=order.rank,
        reduction=planned.reduction,
        tell=lambda word: channel.send((word, None)),
        architecture="distilbert",
        optimizer="adamw",
        scale="small",
        device="cpu",
        nominal=planned.nominal,
        seeds=planned.seeds,
        corpus=corpus.slices[planned.nominal.corpus_slice],
        tokenizer=corpus.tokenizer,
        capacity_bytes=order.capacity_bytes,
        meter=meter,
        scratch=Path(order.scratch),
        hold=hold,
        monitor=monitor,
    )


def _train(run: RankRun, order: RankOrder, channel: Connection) -> None:
    from failbench.ranks.faults import fault_of

    cause, onset = order.planned.cause, order.planned.onset_step
    fault = None
    if cause is not None and order.is_faulty:
        fault = fault_of(cause.fault, cause.id)

    def begin(moment: str) -> None:
        if cause is not None and fault is not None and fault.moment == moment:
            with torch.random.fork_rng():  # a stray draw would change what the loop draws next
                fault.install(run, **cause.fault.parameters)

    with run.monitor:
        begin("before_build")
        run.build()
        for step in range(run.nominal.planned_steps):
            run.begin_step(step)
            if step == onset:
                begin("at_onset")
            try:
                run.train_step()
            except StopIteration:
                break
            run.end_step()
            channel.send(("step", row_record(run.row)))
        distributed.barrier()
    run.meter.lift()
    sums = str(checksums(list(run.model.parameters())))
    channel.send(("completed", hashlib.sha256(sums.encode()).hexdigest()[:16]))
