"""The child process: trains under a memory limit and reports every step."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import traceback
import warnings
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

import tokenizers
import torch
import transformers

from failbench.recording.corpus import PAD, UNKNOWN, load_corpus
from failbench.recording.faults.registry import Fault, apply_fault, find_fault
from failbench.recording.loop import TrainingRun
from failbench.recording.memory import MemoryMeter
from failbench.recording.order import Line, RunOrder
from failbench.recording.paths import package_relative
from failbench.recording.reports import Reports
from failbench.recording.unmonitored import UNMONITORED

if TYPE_CHECKING:
    from failbench.monitor import Monitor
    from failbench.recording.unmonitored import Unmonitored


def main(order: RunOrder, line: Line) -> None:
    """Entry point of the child process; all reports go through the channel."""
    # Training has its own thread and so its own heap: the main thread's is a copy of the fork
    # server's, whose holes differ between campaigns and change memory readings by MiB.
    # The campaign is interrupted by its own process; children end when it tells them to.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()  # here, as the training thread would use again what it frees
    ended, end = os.pipe()
    reports = Reports(line.channel)
    training = threading.Thread(target=_train, args=(order, line, reports, end), daemon=True)
    training.start()
    while line.lifeline in wait([line.lifeline, ended]):
        answer(line, reports)
    training.join()


def answer(line: Line, reports: Reports) -> None:
    """Answer a campaign that asks about a silent run; where it vanished, the run ends with it."""
    try:
        line.lifeline.recv_bytes()
    except EOFError:
        os.kill(os.getpid(), signal.SIGKILL)
    reports.unfinished()
    reports.send("answered", {})


def _train(order: RunOrder, line: Line, reports: Reports, end: int) -> None:
    torch.set_num_threads(1)
    meter = MemoryMeter()
    os.chdir(line.scratch)
    try:
        execute(order, line, reports, meter)
    finally:
        os.close(end)


def execute(order: RunOrder, line: Line, reports: Reports, meter: MemoryMeter) -> None:
    """Train, and report how it ended."""
    try:
        _execute(order, line, reports, meter)
    except BaseException as error:  # whatever ends the run is what is recorded
        meter.lift()
        reports.send("error", _describe(error))


def _execute(order: RunOrder, line: Line, reports: Reports, meter: MemoryMeter) -> None:
    corpus = load_corpus(Path(order.corpus_cache))
    part = corpus.slices[order.nominal.corpus_slice]

    def hold(agent: str, memory_bytes: int) -> None:
        reports.send("hold", {"agent": agent, "memory_bytes": memory_bytes})
        line.channel.recv_bytes()

    run = TrainingRun(
        architecture=order.architecture,
        optimizer=order.optimizer,
        scale=order.scale,
        device=order.device,
        nominal=order.nominal,
        seeds=order.seeds,
        corpus=part,
        tokenizer=corpus.tokenizer,
        capacity_bytes=order.capacity_bytes,
        meter=meter,
        scratch=Path(line.scratch),
        hold=hold,
        monitor=_monitor(order, line, meter, corpus.tokenizer.get_vocab_size()),
    )
    fault = None if order.declaration is None else find_fault(order.declaration, order.run_id)
    if order.capacity_bytes is not None:
        _limit(order, meter)
    try:
        with run.monitor:
            from_start = fault is not None and fault.moment == "before_build"
            if order.onset_step is not None and from_start:
                _install(run, fault, order)
            reports.send("configuration", _configuration(run, part.statistics, corpus.sha256))
            run.build()
            reports.follow(run)
            parameters = sum(each.numel() for each in run.model.parameters())
            reports.send("built", {"parameters": parameters})
            for step in range(order.nominal.planned_steps):
                run.begin_step(step)
                if step == order.onset_step and fault is not None and fault.moment == "at_onset":
                    _install(run, fault, order)
                run.train_step()
                reports.step()
                run.between_steps()
    except BaseException:
        # First of all, because even the row of the fatal step needs memory to be sent.
        meter.lift()
        reports.unfinished()
        if meter.capacity_bytes is not None:
            reports.send("limit", {"capacity_bytes": meter.capacity_bytes})
        raise
    reports.send("completed", {})


def _monitor(
    order: RunOrder, line: Line, meter: MemoryMeter, vocabulary: int
) -> Monitor | Unmonitored:
    """The monitor of a run, whose own memory is none of the run's."""
    if order.level is None:
        return UNMONITORED
    from failbench.monitor import Monitor, Vocabulary

    # What it does not measure is in its log; the campaign's terminal is not the place.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"failbench\.monitor")
    before = meter.read()
    monitor = Monitor(line.log, order.level, vocabulary=Vocabulary(vocabulary, PAD, UNKNOWN))
    meter.leave_out(meter.read() - before)
    return monitor


def _limit(order: RunOrder, meter: MemoryMeter) -> None:
    assert order.capacity_bytes is not None
    if order.device == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(order.capacity_bytes / total)
    else:
        meter.limit(order.capacity_bytes)


def _install(run: TrainingRun, fault: Fault | None, order: RunOrder) -> None:
    assert fault is not None
    assert order.declaration is not None
    # A stray draw from the global generator would change what the nominal code draws next.
    with torch.random.fork_rng():
        apply_fault(run, fault, order.declaration)


def _configuration(
    run: TrainingRun, statistics: dict[str, float], corpus_sha256: str
) -> dict[str, object]:
    size = run.settings.size
    return {
        "width": size.width,
        "layers": size.layers,
        "heads": size.heads,
        "model_vocabulary": size.vocabulary,
        "tokenizer_vocabulary": run.tokenizer.get_vocab_size(),
        "schedule": "linear_warmup_linear_decay",
        **statistics,
        "corpus_sha256": corpus_sha256,
        "python_version": sys.version.split()[0],
        "torch_version": torch.__version__,
        "transformers_version": transformers.__version__,
        "tokenizers_version": tokenizers.__version__,
    }


def _describe(error: BaseException) -> dict[str, str]:
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return {
        "error_type": f"{module}{kind.__qualname__}",
        "error_message": package_relative(str(error)),
        "error_traceback": package_relative("".join(traceback.format_exception(error))),
    }
