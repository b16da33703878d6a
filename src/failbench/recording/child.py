"""The child process: trains under a memory limit and reports every step."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Connection, wait
from pathlib import Path

import tokenizers
import torch
import transformers

from failbench.recording.corpus import load_corpus
from failbench.recording.faults.registry import Fault, apply_fault, find_fault
from failbench.recording.loop import TrainingRun, row_record
from failbench.recording.memory import MemoryMeter
from failbench.recording.order import Line, RunOrder
from failbench.recording.paths import package_relative


def main(order: RunOrder, line: Line) -> None:
    """Entry point of the child process; all reports go through the channel.

    Training has its own thread and so its own heap. The main thread's heap is a copy of the fork
    server's, whose holes differ between campaigns and change memory readings by MiB.
    """
    # The campaign is interrupted by its own process; children end when it tells them to.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()  # here, as the training thread would use again what it frees
    ended, end = os.pipe()
    training = threading.Thread(target=_train, args=(order, line, end), daemon=True)
    training.start()
    if line.lifeline in wait([line.lifeline, ended]):  # the campaign has vanished
        os.kill(os.getpid(), signal.SIGKILL)
    training.join()


def _train(order: RunOrder, line: Line, end: int) -> None:
    torch.set_num_threads(1)
    meter = MemoryMeter()
    os.chdir(line.scratch)
    try:
        _execute(order, line.channel, meter, Path(line.scratch))
    except BaseException as error:  # whatever ends the run is what is recorded
        meter.lift()
        _send(line.channel, "error", _describe(error))
    finally:
        os.close(end)


def _execute(order: RunOrder, channel: Connection, meter: MemoryMeter, scratch: Path) -> None:
    corpus = load_corpus(Path(order.corpus_cache))
    part = corpus.slices[order.nominal.corpus_slice]

    def hold(agent: str, memory_bytes: int) -> None:
        _send(channel, "hold", {"agent": agent, "memory_bytes": memory_bytes})
        channel.recv_bytes()

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
        scratch=scratch,
        hold=hold,
    )
    fault = None if order.declaration is None else find_fault(order.declaration, order.run_id)
    if order.capacity_bytes is not None:
        _limit(order, meter)
    reported: int | None = None
    built = False
    try:
        if order.onset_step is not None and fault is not None and fault.moment == "before_build":
            _install(run, fault, order)
        _send(channel, "configuration", _configuration(run, part.statistics, corpus.sha256))
        run.build()
        built = True
        _send(channel, "built", {"parameters": sum(one.numel() for one in run.model.parameters())})
        for step in range(order.nominal.planned_steps):
            run.begin_step(step)
            if step == order.onset_step and fault is not None and fault.moment == "at_onset":
                _install(run, fault, order)
            run.train_step()
            _send(channel, "step", row_record(run.row))
            reported = step
            run.between_steps()
    except BaseException:
        # First of all, because even the row of the fatal step needs memory to be sent.
        meter.lift()
        if built and reported != run.step:
            run.row.memory_bytes = max(run.row.memory_bytes, meter.read())
            _send(channel, "step", row_record(run.row))
        raise
    _send(channel, "completed", {})


def _limit(order: RunOrder, meter: MemoryMeter) -> None:
    assert order.capacity_bytes is not None
    if order.device == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(order.capacity_bytes / total)
    else:
        meter.limit(order.capacity_bytes)


def _install(run: TrainingRun, fault: Fault, order: RunOrder) -> None:
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


def _send(channel: Connection, kind: str, content: Mapping[str, object]) -> None:
    channel.send_bytes(json.dumps([kind, content]).encode())
