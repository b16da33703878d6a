"""Log: what the monitor writes while a run lives, so that its end can be explained afterwards.

``signals.jsonl`` has lines of JSON, only ever appended, after a header. ``[step, values]`` is a
check: what changed since the one before by number of column, null where it is not measured any
more; ``[step, values, "change"]`` lies between checks and has the exact signals that changed; an
object is an event, as the end, or that something is measured less often. ``now.bin`` is a memory
map, which outlives a killed process: phase, step and clocks of the moment, and all signals of the
last steps.
"""

from __future__ import annotations

import json
import math
import os
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from failbench.monitor.budget import Thinned
from failbench.monitor.end import End
from failbench.monitor.signals import PHASES, SIGNAL_NAMES, SIGNALS, Level, Phase

FORMAT: Final = 1
LINES, NOW = "signals.jsonl", "now.bin"
LAST_STEPS: Final = 16  # whose signals are kept in the memory map
MOST_CHANGES: Final = 2000  # lines between checks, and of a budget, so that a log stays small

NOW_TYPE: Final = np.dtype(
    [
        ("phase", "i4"),
        ("step", "i8"),
        ("wall", "f8"),
        ("steps", "i8", (LAST_STEPS,)),
        ("checks", "i1", (LAST_STEPS,)),
        ("values", "f8", (LAST_STEPS, len(SIGNALS))),
    ]
)
"""``wall`` is of the last phase; ``steps`` -1 is nothing yet; no measured NaN has a sign bit."""

ABSENT: Final = float(np.array(0xFFF8000000000001, np.uint64).view(np.float64))
"""Not measured, in the memory map: a NaN of its own, as measured values may be NaN too."""

_MOMENT: Final = struct.Struct("=iqd")  # the first fields of that type, written at once
_PHASE: Final = {phase: place for place, phase in enumerate(PHASES)}
_COLUMN: Final = {name: place for place, name in enumerate(SIGNAL_NAMES)}
_EXACT: Final = frozenset(signal.name for signal in SIGNALS if signal.exact)


@dataclass(frozen=True)
class Header:
    """What is known of a run before its first step."""

    level: Level
    every: int
    off: Mapping[str, str]
    facts: Mapping[str, float]


class LogWriter:
    """Writes the log of one run."""

    def __init__(self, folder: Path, header: Header) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lines = (folder / LINES).open("x", encoding="utf-8")
        with (folder / NOW).open("wb") as file:
            # Allocated on the disk: a map of a hole would end the process where the disk is full.
            os.posix_fallocate(file.fileno(), 0, NOW_TYPE.itemsize)
        # Plain views of its fields: a field of a record takes many times as long to write.
        now = np.memmap(folder / NOW, NOW_TYPE, "r+", shape=(1,))
        self._now = now.view(np.uint8).data
        self._steps, self._checks, self._values = (
            now[name].view(np.ndarray)[0] for name in ("steps", "checks", "values")
        )
        self._steps[:] = -1
        self._values[:] = ABSENT
        self._written: dict[str, float] = {}
        self._changes = self._thinned = 0
        self.bytes_written = 0
        place = {"host": socket.gethostname(), "pid": os.getpid(), "started": time.time()}
        self._line({"format": FORMAT, "columns": SIGNAL_NAMES, **place, **asdict(header)})

    def phase(self, phase: Phase, step: int) -> None:
        """Note what the loop does from now on; on disk at once, without a system call."""
        _MOMENT.pack_into(self._now, 0, _PHASE[phase], step, time.time())

    def step(self, step: int, values: Mapping[str, float], check: bool) -> None:
        """Keep the signals of a step, and write them if it is a check or an exact one changed."""
        slot = step % LAST_STEPS
        row = np.full(len(SIGNALS), ABSENT)
        for name, value in values.items():
            row[_COLUMN[name]] = math.nan if math.isnan(value) else value
        self._steps[slot] = -1  # a process that is killed here leaves no half of a row
        self._values[slot] = row
        self._checks[slot] = check
        self._steps[slot] = step
        if check:
            gone = dict.fromkeys(self._written.keys() - values.keys())
            changed = {name: value for name, value in values.items() if self._differs(name, value)}
            self._line([step, _by_column({**gone, **changed})])
            self._written = dict(values)
            return
        exact = {
            name: value
            for name, value in values.items()
            if name in _EXACT and self._differs(name, value)
        }
        if exact and self._changes < MOST_CHANGES:
            self._changes += 1
            self._line([step, _by_column(exact), "change"])
            self._written |= exact

    def off(self, signal: str, reason: str) -> None:
        """Note that a signal is not measured any more."""
        self._line({"event": "off", "signal": signal, "reason": reason})

    def fact(self, name: str, value: float) -> None:
        """Note what became known of the run after its header was written."""
        self._line({"event": "fact", "name": name, "value": value})

    def thinned(self, change: Thinned) -> None:
        """Note that something is measured more or less often from a step on."""
        self._thinned += 1
        if self._thinned <= MOST_CHANGES:
            share = float(f"{change.share:.3g}")
            self._line({"event": "thinned", **asdict(change), "share": share})

    def end(self, end: End) -> None:
        """Note the end of the run, and close the log."""
        self._line({"event": "end", **asdict(end)})
        self._lines.close()

    def _differs(self, name: str, value: float) -> bool:
        before = self._written.get(name)
        if before is None:
            return True
        if before == value:  # nothing is written out: most signals are as they were
            return False
        return _short(before) != _short(value)

    def _line(self, content: Any) -> None:
        line = json.dumps(content, separators=(",", ":")) + "\n"
        self.bytes_written += len(line)
        self._lines.write(line)
        self._lines.flush()


def _by_column(values: Mapping[str, float | None]) -> dict[int, float | str | None]:
    return {_COLUMN[name]: _short(value) for name, value in values.items()}


def _short(value: float | None) -> float | str | None:
    """A number as it is written: six digits, and a word where JSON has no number."""
    if value is None:
        return None
    if not math.isfinite(value):
        return str(value)
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short
