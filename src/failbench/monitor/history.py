"""History: the signals of a run and its end, read from its log."""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from failbench.errors import BadInputError
from failbench.monitor.budget import Thinned
from failbench.monitor.end import End
from failbench.monitor.log import ABSENT, FORMAT, LINES, NOW, NOW_TYPE
from failbench.monitor.signals import PHASES, SIGNAL_NAMES, Level

STILL: Final = 60.0  # seconds without change that a process hangs; or ten times the longest step

_ABSENT_BITS: Final = np.float64(ABSENT).view(np.uint64)


@dataclass(frozen=True)
class Row:
    """Signals of one step."""

    step: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class History:
    """What the log of a run holds.

    Attributes
    ----------
    level
        What was measured.
    every
        Steps from one check to the next.
    facts
        What the user said of the run.
    off
        Signals that were not measured, or not to the end, with the reason.
    rows
        By increasing step.
    end
        How the run ended.
    thinned
        What a budget had measured more or less often, from which step on.
    """

    level: Level
    every: int
    facts: Mapping[str, float]
    off: Mapping[str, str]
    rows: tuple[Row, ...]
    end: End
    thinned: tuple[Thinned, ...] = ()

    def series(self, signal: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Steps at which a signal was measured, and its values, both of shape (measurements,)."""
        pairs = [(row.step, row.values[signal]) for row in self.rows if signal in row.values]
        steps = np.array([step for step, _ in pairs], np.int64)
        return steps, np.array([value for _, value in pairs], np.float64)


def read_history(folder: Path) -> History:
    """Read the log of a run, of one that was killed or still lives too.

    Raises
    ------
    BadInputError
        If there is no log, or it is not one of this version.
    """
    path = folder / LINES
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInputError(
            path, "(file)", f"cannot be read ({error.strerror}).", "Name the folder of a log."
        ) from error
    whole = text[: text.rfind("\n") + 1]  # a process may be killed within a line
    try:
        header, *lines = [json.loads(line) for line in whole.splitlines()]
        columns = [str(name) for name in header["columns"]]
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']}")
        rows = {row.step: row for row in _rows(lines, columns)}
        events = [line for line in lines if isinstance(line, dict)]
        off = {**header["off"], **{e["signal"]: e["reason"] for e in events if e["event"] == "off"}}
        ends = [event for event in events if event["event"] == "end"]
        level, every, facts = header["level"], int(header["every"]), dict(header["facts"])
        facts |= {e["name"]: float(e["value"]) for e in events if e["event"] == "fact"}
        thinned = tuple(
            Thinned(e["measurement"], int(e["every"]), int(e["step"]), float(e["share"]))
            for e in events
            if e["event"] == "thinned"
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadInputError(
            path,
            "(file)",
            f"is not a log of this version of the monitor ({error!r}).",
            "Read it with the version that wrote it.",
        ) from error
    now = _read_now(folder / NOW)
    if now is not None and columns == list(SIGNAL_NAMES):
        rows |= {row.step: row for row in _kept(now)}
    ordered = tuple(rows[step] for step in sorted(rows))
    if ends:
        end = End(**{key: ends[-1][key] for key in ends[-1] if key != "event"})
    else:
        end = _end_without_word(header, now, ordered)
    return History(level, every, facts, off, ordered, end, thinned)


def _rows(lines: list[Any], columns: list[str]) -> list[Row]:
    state: dict[str, float] = {}
    rows = []
    for line in lines:
        if not isinstance(line, list):
            continue
        step, changed = int(line[0]), {columns[int(key)]: value for key, value in line[1].items()}
        measured = {name: float(value) for name, value in changed.items() if value is not None}
        state = {name: value for name, value in state.items() if name not in changed} | measured
        rows.append(Row(step, measured if len(line) > 2 else dict(state)))
    return rows


def _read_now(path: Path) -> np.void | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) != NOW_TYPE.itemsize:
        return None
    now: np.void = np.frombuffer(content, NOW_TYPE)[0]
    return now


def _kept(now: np.void) -> list[Row]:
    rows = []
    for step, values in zip(now["steps"], now["values"], strict=True):
        if step >= 0:
            measured = values.view(np.uint64) != _ABSENT_BITS
            rows.append(
                Row(
                    int(step),
                    {
                        name: float(value)
                        for name, value, is_there in zip(
                            SIGNAL_NAMES, values, measured, strict=True
                        )
                        if is_there
                    },
                )
            )
    return rows


def _end_without_word(header: Mapping[str, Any], now: np.void | None, rows: tuple[Row, ...]) -> End:
    """The end of a run that could not write it: what it was doing, and whether it still lives."""
    if now is None:
        return End("killed", "build", rows[-1].step if rows else 0)
    phase, step = PHASES[int(now["phase"])], int(now["step"])
    if header["host"] != socket.gethostname() or not _lives(int(header["pid"])):
        return End("killed", phase, step)
    longest = max((_seconds(row) for row in rows), default=0.0)
    still = time.time() - float(now["wall"])
    return End("hung" if still > max(STILL, 10 * longest) else "running", phase, step)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _seconds(row: Row) -> float:
    return math.fsum(
        value
        for name, value in row.values.items()
        if name.startswith(("busy_", "blocked_")) and math.isfinite(value)
    )
