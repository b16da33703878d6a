"""The parent's side of a run: starts the child, receives its reports, and detects its end."""

import ctypes
import json
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Ending
from failbench.monitor.budget import OFF
from failbench.monitor.history import History, Row, read_history
from failbench.monitor.log import LINES
from failbench.recording.order import Line, RunOrder

_ENVIRONMENT = {
    # An arena for the main thread, one for training, and fixed thresholds, so that VmData depends
    # on the run's own allocations alone. Mapping every tensor anew would cost a page fault for each
    # page: 1.7 times the step time.
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "4194304",
    "MALLOC_TRIM_THRESHOLD_": "4194304",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    OFF: "off",  # a recorded run is measured whole, on however slow a machine
}
_ADDR_NO_RANDOMIZE = 0x0040000  # of personality(2)
_REFUSAL = f"{BadInputError.__module__}.{BadInputError.__qualname__}"
"""Type of the error that a child reports where its order cannot be executed."""
_ANSWER_SECONDS = 5.0
CHILD_MODULE = "failbench.recording.child"
_FAULTS = "failbench.recording.faults"
_PRELOADED = [
    CHILD_MODULE,
    __name__,
    # An import leaves holes in the heap of the run in which it happens, more if it compiles.
    *(f"{_FAULTS}.{name}" for name in ("data", "memory", "optimization", "software", "unknown")),
    # torch imports these when a run takes its first step and loads its first checkpoint. A step
    # taken here instead would ready CUDA and autograd's threads, which do not survive a fork.
    "torch.profiler._cupti_monitor",
    "torch.utils.serialization.config",
]


@dataclass
class RunReport:
    """Reports of a run until its end, with the last limit, and its monitor's log, also at looks."""

    # The last steps before a look are in no log that ends later.

    ending: Ending = "completed"
    exit_signal: str | None = None
    configuration: dict[str, Any] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, str] = field(default_factory=dict)
    wall_seconds: float = 0.0
    capacity_bytes: int | None = None
    history: History | None = None
    looked: dict[int, Row] = field(default_factory=dict)


class RecorderError(Exception):
    """The recorder itself failed: a child ended without a report, or did not end."""


def fork_server(more: Sequence[str] = ()) -> ForkServerContext:
    """A fork server with torch and all faults imported: a run starts in well under a second."""
    preloaded = [*_PRELOADED, *more]
    os.environ.update(_ENVIRONMENT)
    # The addresses of small objects change a memory reading by some hundred KiB. Where a process
    # may not fix them (some containers), readings are noisier and everything else is the same.
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)
    for module in preloaded:
        # Compiled now, so that the server does not compile: its heap is the same every time.
        import_module(module)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(preloaded)
    return context


def train(order: RunOrder, line: Line) -> None:
    """The child's side, imported late: this module must be importable without torch."""
    if order.device == "cuda":
        from failbench.recording.gpu import main
    else:
        from failbench.recording.child import main

    main(order, line)


def execute(
    context: ForkServerContext,
    order: RunOrder,
    hang_seconds: float,
    wall_limit_seconds: float,
    target: Callable[[RunOrder, Line], None] = train,
) -> RunReport:
    """Execute one run in a child process and return its reports."""
    channel, far_channel = context.Pipe(duplex=True)
    far_lifeline, near_lifeline = context.Pipe(duplex=False)
    scratch = tempfile.TemporaryDirectory(prefix="failbench-run-", ignore_cleanup_errors=True)
    log = tempfile.TemporaryDirectory(prefix="failbench-log-", ignore_cleanup_errors=True)
    line = Line(far_channel, far_lifeline, scratch.name, log.name)
    process = context.Process(target=target, args=(order, line))
    report = RunReport()
    finished = False
    started = time.monotonic()
    try:
        process.start()
        far_channel.close()
        far_lifeline.close()
        while True:
            if not channel.poll(hang_seconds):
                if not finished:
                    report.ending, finished = "timeout", True
                    _ask(near_lifeline, channel, report)
                process.kill()
                break
            try:
                kind, content = json.loads(channel.recv_bytes())
            except (EOFError, ConnectionResetError):
                break
            if kind == "hold":
                _act(content, order, process.pid, channel)
            else:
                finished |= _note(report, kind, content)
                if kind == "step" and content["step"] in order.looks:
                    report.looked |= {row.step: row for row in read_history(Path(log.name)).rows}
            if time.monotonic() - started > wall_limit_seconds:
                raise RecorderError(
                    f"{order.run_id}: the child was still training after {wall_limit_seconds:g} "
                    "seconds. Correct the fault that never ends, or raise "
                    "record.wall_limit_seconds in params.yaml."
                )
        process.join(timeout=hang_seconds)
    finally:
        channel.close()
        near_lifeline.close()  # ends a child that still runs
        process.kill()
        process.join()
        if order.level is not None:
            report.history = _history(Path(log.name), report)
        scratch.cleanup()
        log.cleanup()
    report.wall_seconds = time.monotonic() - started
    if report.error.get("error_type") == _REFUSAL:
        raise RecorderError(
            f"{order.run_id}: the child refused its order: {report.error['error_message']}"
        )
    code = process.exitcode
    if code is not None and code < 0:
        if not finished:
            report.ending, finished = "signal", True
        if report.ending in ("signal", "timeout"):
            report.exit_signal = signal.Signals(-code).name
    if not finished:
        raise RecorderError(
            f"{order.run_id}: the child ended with exit code {code}, without a footer and without "
            "a signal. Run it alone with `failbench record --only` and read its standard error."
        )
    return report


def _ask(lifeline: Connection, channel: Connection, report: RunReport) -> None:
    """Ask a child that hangs how far it came in its step; it may hang too hard to answer."""
    kind = ""
    try:
        lifeline.send_bytes(b"?")
        while kind != "answered" and channel.poll(_ANSWER_SECONDS):
            kind, content = json.loads(channel.recv_bytes())
            _note(report, kind, content)
    except (EOFError, OSError):  # it has died meanwhile
        return


def _history(log: Path, report: RunReport) -> History | None:
    if not (log / LINES).exists():
        return None
    history = read_history(log)
    rows = {**report.looked, **{row.step: row for row in history.rows}}
    for step in rows.keys() & report.looked.keys():
        if len(report.looked[step].values) > len(rows[step].values):  # the log has a change alone
            rows[step] = report.looked[step]
    history = replace(history, rows=tuple(rows[step] for step in sorted(rows)))
    if report.ending == "timeout":  # it was killed because it hung
        return replace(history, end=replace(history.end, kind="hung"))
    return history


def _note(report: RunReport, kind: str, content: dict[str, Any]) -> bool:
    """Add one message to the report; True if it is the last one of the child."""
    if kind in ("configuration", "built"):
        report.configuration.update(content)
    elif kind == "step":
        report.steps.append(content)
    elif kind == "limit":
        report.capacity_bytes = content["capacity_bytes"]
    elif kind == "error":
        report.ending, report.error = "exception", content
        return True
    return kind == "completed"


def _act(content: dict[str, Any], order: RunOrder, pid: int | None, channel: Connection) -> None:
    """Act on a child as an ``operator``, who kills, or ``memory_manager``, if it has too much."""
    assert pid is not None
    beyond = order.capacity_bytes is not None and content["memory_bytes"] > order.capacity_bytes
    if content["agent"] == "operator" or beyond:
        os.kill(pid, signal.SIGKILL)
    else:
        channel.send_bytes(b"go")


def require_recording_extra(device: str = "cpu") -> None:
    """Refuse to record without the libraries that the extra ``record`` brings, or the device."""
    for name in ("torch", "transformers", "tokenizers"):
        try:
            __import__(name)
        except ImportError as error:
            field = "project.optional-dependencies.record"
            problem = f"recording needs {name}, which is not installed."
            remedy = "Run `make record`, which installs the extra first."
            raise BadInputError("pyproject.toml", field, problem, remedy) from error
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            problem = f"PyTorch {torch.__version__} finds no CUDA device here."
            remedy = (
                "Record with --device cpu, or install a CUDA build of PyTorch on a machine with a "
                "GPU."
            )
            raise BadInputError("command line", "--device", problem, remedy)
