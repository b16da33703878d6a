"""The normal form of a log: rows of measurements, events, and what was not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from failbench.diagnose.readers.names import SIGNALS, SPLITS, SignalName
from failbench.monitor.history import History

_POSITION = {"source": pl.Int32(), "line": pl.Int32(), "step": pl.Int64(), "epoch": pl.Float64()}

ROW_SCHEMA = pl.Schema(
    [*_POSITION.items(), ("split", pl.Enum(SPLITS)), *((name, pl.Float64()) for name in SIGNALS)]
)
"""Columns of measurements: which of the log's sources says it and in which line, when it was
measured, on what, and the signals as they were logged. Null is what a line does not say; a logged
NaN stays one. Units are the log's own."""

EventKind = Literal["exception", "death", "warning"]


@dataclass(frozen=True)
class Event:
    """Something that a log says in words.

    Attributes
    ----------
    kind
        An exception with or without its traceback, the death of a process, or a warning.
    source
        Position of what says it among the log's sources.
    line
        Where it is said, counted from 1; of a traceback its last line.
    name
        Class of the exception, name of the signal, or empty.
    message
        What it says.
    frames
        Of a traceback, ``file:line in function`` from the outermost call to the innermost.
    """

    kind: EventKind
    source: int
    line: int
    name: str
    message: str
    frames: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """One file of a log, or a part of it that has a format of its own.

    Attributes
    ----------
    name
        As a person would name it: a path below what was asked for, or ``-`` for standard input.
    format
        What it was read as.
    lines
        How many lines it has.
    notes
        What a reader must know of how it was read, in sentences.
    """

    name: str
    format: str
    lines: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Log:
    """All that was read of a run.

    Attributes
    ----------
    sources
        What was read, in the order in which rows name them.
    rows
        Measurements; rows of ``ROW_SCHEMA`` in the order of sources and lines.
    events
        In the same order.
    history
        All that failbench's own monitor measured, where its log is among the sources; of several
        the first.
    """

    sources: tuple[Source, ...]
    rows: pl.DataFrame
    events: tuple[Event, ...]
    history: History | None = None

    @property
    def present(self) -> tuple[SignalName, ...]:
        """Signals that are logged at least once."""
        return tuple(name for name in SIGNALS if self.rows[name].null_count() < self.rows.height)

    @property
    def absent(self) -> tuple[SignalName, ...]:
        """Signals that the log says nothing of."""
        present = self.present
        return tuple(name for name in SIGNALS if name not in present)

    def series(self, signal: SignalName, split: str = "train") -> pl.DataFrame:
        """Where a signal was logged: its rows with ``source``, ``line``, ``step`` and the value."""
        return self.rows.filter(
            pl.col(signal).is_not_null(), pl.col("split").cast(pl.String) == split
        ).select("source", "line", "step", "epoch", signal)


def joined(parts: tuple[Log, ...]) -> Log:
    """Logs one after another, as one."""
    sources: list[Source] = []
    rows, events = [], []
    for part in parts:
        offset = len(sources)
        rows.append(part.rows.with_columns(pl.col("source") + offset))
        events += [
            Event(
                event.kind,
                event.source + offset,
                event.line,
                event.name,
                event.message,
                event.frames,
            )
            for event in part.events
        ]
        sources += part.sources
    empty = ROW_SCHEMA.to_frame()
    history = next((part.history for part in parts if part.history is not None), None)
    return Log(tuple(sources), pl.concat([empty, *rows]), tuple(events), history)
