"""Recorder: runs pairs of processes that train together, and keeps what each logged and saw."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, Final

from failbench.base.files import write_atomically
from failbench.monitor.history import History, read_history
from failbench.monitor.log import LINES
from failbench.monitor.records.tables import monitored_row, signal_rows
from failbench.ranks.causes import RANKS, PlannedRanks, RankSettings
from failbench.recording.fingerprint import code_hash, fault_code, loop_code
from failbench.recording.paths import package_relative
from failbench.recording.sandbox import fork_server
from failbench.recording.signals import monitor_code

OUT_OF_STEP: Final = 10.0  # seconds beyond a collective's timeout that a silent rank may live on
PAUSED, CONTINUED = 0.06, 0.04  # seconds that a machine gives to others, and to the rank
_MEBIBYTE: Final = 2**20
_MODULES: Final = ("faults.py", "recorder.py", "training.py")
_REMEDY: Final = "Free space and start again; what is recorded is kept."


@dataclass
class RankReport:
    """What a rank told until its end, and what its monitor's log holds."""

    ending: str = ""
    ended: float = 0.0  # by the clock of the recorder
    exit_signal: str | None = None
    error: tuple[str | None, str | None] = (None, None)
    steps: list[dict[str, Any]] = field(default_factory=list)
    weights: str | None = None
    history: History | None = None


@dataclass(frozen=True)
class Recorder:
    """Executes runs one after another; each that is over is a file in ``work``."""

    settings: RankSettings
    work: Path
    corpus_cache: Path

    def fingerprint(self, planned: PlannedRanks) -> str:
        """Of what a run is, and of the code that it executes."""
        settings, cause = self.settings, planned.cause
        parts = [
            _code(), loop_code(), monitor_code(), version("torch"), planned.run_id,
            repr((planned.nominal, planned.seeds, planned.guilty_rank, planned.reduction)),
            repr((settings.timeout_seconds, settings.capacity_mebibytes)),
        ]  # fmt: skip
        if cause is not None and planned.kind == "failure":
            parts.append(cause.fault.model_dump_json())
            if cause.scenario is not None:
                parts.append(fault_code(cause.fault.name))
        return sha256("\n".join(parts).encode()).hexdigest()[:16]

    def record(
        self, groups: Sequence[Sequence[PlannedRanks]], show: Callable[[int, int, int], None]
    ) -> dict[str, dict[str, Any]]:
        """Record what is missing, and return all runs by id: what each rank logged and saw."""
        total = sum(map(len, groups))
        kept = 0
        context: ForkServerContext | None = None
        recorded: dict[str, dict[str, Any]] = {}
        for planned in (planned for group in groups for planned in group):
            entry = self._known(planned)
            if entry is None:
                context = context or fork_server(("failbench.ranks.faults",))
                reports = execute(context, self._order(planned))
                ranks = [_kept(report) for report in reports]
                entry = {"fingerprint": self.fingerprint(planned), "ranks": ranks}
                path = self.work / f"{planned.run_id}.json.gz"
                content = gzip.compress(json.dumps(entry).encode(), compresslevel=3, mtime=0)
                write_atomically(path, content, _REMEDY)
            else:
                kept += 1
            recorded[planned.run_id] = entry
            show(len(recorded), total, kept)
        return recorded

    def _known(self, planned: PlannedRanks) -> dict[str, Any] | None:
        path = self.work / f"{planned.run_id}.json.gz"
        if not path.exists():
            return None
        entry: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
        return entry if entry["fingerprint"] == self.fingerprint(planned) else None

    def _order(self, planned: PlannedRanks) -> dict[str, Any]:
        multiple = planned.nominal.capacity_multiple
        return {
            "planned": planned,
            "capacity_bytes": int(self.settings.capacity_mebibytes * multiple) * _MEBIBYTE,
            "timeout_seconds": self.settings.timeout_seconds,
            "corpus_cache": str(self.corpus_cache),
        }


def _kept(report: RankReport) -> dict[str, Any]:
    """What is kept of a rank; one that ended early may have no log."""
    history = report.history
    return {
        "ending": report.ending, "ended": report.ended, "exit_signal": report.exit_signal,
        "error_type": report.error[0], "error_message": report.error[1],
        "steps": report.steps, "weights": report.weights,
        "monitored": None if history is None else monitored_row(history, {}),
        "signals": [] if history is None else signal_rows(history),
    }  # fmt: skip


@cache
def _code() -> str:
    """Hash of what the recorder of ranks executes."""
    folder = Path(__file__).parent
    return code_hash([folder / name for name in _MODULES])


def execute(context: ForkServerContext, order: Mapping[str, Any]) -> list[RankReport]:
    """Execute one run in a process for each rank, and return what they reported."""
    reports = [RankReport() for _ in range(RANKS)]
    with tempfile.TemporaryDirectory(prefix="failbench-run-") as scratch, _Ranks() as ranks:
        for rank in range(RANKS):
            ranks.start(context, {**order, "rank": rank, "scratch": scratch})
        patience = order["timeout_seconds"] + OUT_OF_STEP
        last_word = time.monotonic()
        while alive := [rank for rank in range(RANKS) if not reports[rank].ending]:
            near = {ranks.channels[rank]: rank for rank in alive}
            for channel in wait([*near], timeout=1.0):
                assert isinstance(channel, Connection)
                rank = near[channel]
                try:
                    word, content = channel.recv()
                except (EOFError, OSError):
                    _close(reports[rank], ranks.code(rank))
                    last_word = time.monotonic()
                    continue
                if word in ("step", "exception", "completed"):
                    _note(reports[rank], word, content)
                    last_word = time.monotonic()
                elif word == "hold":
                    os.kill(ranks.pid(rank), signal.SIGKILL)
                elif word == "pause":
                    ranks.pause(rank)
            if time.monotonic() - last_word > patience:
                for rank in alive:
                    if not reports[rank].ending:
                        reports[rank].ending, reports[rank].ended = "timeout", time.monotonic()
        ranks.end()
        for rank, report in enumerate(reports):
            report.history = _history(Path(scratch) / f"log{rank}", report)
    return reports


class _Ranks:
    """The processes of a run, and what pauses one of them."""

    def __init__(self) -> None:
        self.channels: list[Connection] = []
        self._processes: list[multiprocessing.process.BaseProcess] = []
        self._over = threading.Event()
        self._pausing: threading.Thread | None = None

    def __enter__(self) -> _Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self, context: ForkServerContext, order: Mapping[str, Any]) -> None:
        """Start the process of a rank."""
        near, far = context.Pipe(duplex=True)
        log = f"{order['scratch']}/log{order['rank']}"
        process = context.Process(target=_train, args=({**order, "log": log}, far))
        process.start()
        far.close()
        self.channels.append(near)
        self._processes.append(process)

    def pid(self, rank: int) -> int:
        """Of the process of a rank."""
        pid = self._processes[rank].pid
        assert pid is not None
        return pid

    def code(self, rank: int) -> int | None:
        """How the process of a rank ended, once its channel is closed."""
        self._processes[rank].join(OUT_OF_STEP)
        return self._processes[rank].exitcode

    def pause(self, rank: int) -> None:
        """Stop and continue a rank until the end, as a machine does that others use."""
        process, pid = self._processes[rank], self.pid(rank)

        def alternate() -> None:
            while process.is_alive() and not self._over.is_set():
                for what, seconds in ((signal.SIGSTOP, PAUSED), (signal.SIGCONT, CONTINUED)):
                    with suppress(ProcessLookupError):
                        os.kill(pid, what)
                    time.sleep(seconds)

        self._pausing = threading.Thread(target=alternate, daemon=True)
        self._pausing.start()

    def end(self) -> None:
        """End what still runs."""
        self._over.set()
        if self._pausing is not None:
            self._pausing.join()
        for process in self._processes:
            process.kill()
            process.join()
        for channel in self.channels:
            channel.close()


def _train(order: Mapping[str, Any], channel: Connection) -> None:
    """The process of a rank; imported late, as the recorder itself needs no torch."""
    from failbench.ranks.training import RankOrder, main

    main(RankOrder(**order), channel)


def _note(report: RankReport, word: str, content: Any) -> None:
    if word == "step":
        report.steps.append(content)
    elif word == "exception":
        report.error = content
    else:
        report.weights = content


def _close(report: RankReport, code: int | None) -> None:
    """Say how a rank ended whose channel is closed."""
    report.ended = time.monotonic()
    if report.error[0] is not None:
        report.ending = "exception"
    elif report.weights is not None:
        report.ending = "completed"
    else:
        report.ending = "exception" if not code or code > 0 else "signal"
        report.exit_signal = signal.Signals(-code).name if code and code < 0 else None


def _history(log: Path, report: RankReport) -> History | None:
    if not (log / LINES).exists():
        return None
    history = read_history(log)
    end = replace(history.end, message=package_relative(history.end.message))
    if report.ending == "timeout":  # it was killed because it hung
        end = replace(end, kind="hung")
    return replace(history, end=end)
