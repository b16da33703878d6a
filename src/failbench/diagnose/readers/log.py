"""The normal form of a log: rows of measurements, events, and what was not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from failbench.base.arrays import Array, Mask
from failbench.base.extras import of_extra
from failbench.diagnose.readers.names import SIGNALS, SPLITS, SignalName, Split
from failbench.diagnose.readers.numbers import (
    NO_NUMBERS,
    NOWHERE,
    Numbers,
    Places,
    together,
)
from failbench.monitor.history import History

if TYPE_CHECKING:
    import polars as pl

NUMBERS: Final = ("epoch", *SIGNALS)
_PLACE: Final = {name: place for place, name in enumerate(NUMBERS)}
_OF: Final = {name: place for place, name in enumerate(("step", *NUMBERS))}
EventKind = Literal["exception", "death", "warning"]


@dataclass(frozen=True)
class Rows:
    """Measurements, each row what one line says of one split.

    Attributes
    ----------
    source
        Which of the log's sources says it, of shape (rows,), as are the next three.
    line
        In which of its lines, or ``NOWHERE``.
    step
        When it was measured, or ``NOWHERE``.
    is_train
        Whether it was measured on the training data.
    values
        Epochs and signals as they were logged, in the log's own units, of shape (``NUMBERS``,
        rows); no number where nothing was.
    logged
        Where one was, of the same shape: a logged NaN is one too.
    """

    source: Places
    line: Places
    step: Places
    is_train: Mask
    values: Array
    logged: Mask

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, name: str) -> Array:
        """The values of a signal or the epochs, of shape (rows,)."""
        values: Array = self.values[_PLACE[name]]
        return values

    def has(self, name: str) -> Mask:
        """Where a signal or the epoch was logged, of shape (rows,)."""
        logged: Mask = self.logged[_PLACE[name]]
        return logged

    def taken(self, rows: Mask | Places | slice) -> Rows:
        """Some of the rows."""
        return Rows(*(getattr(self, each.name)[..., rows] for each in fields(Rows)))


def rows_of(numbers: Numbers) -> Rows:
    """The signals among numbers, each row what one record says of one split.

    A record with a step or epoch and no signal speaks of those after it that have neither.
    """
    means = [name.meaning for name in numbers.names]
    of = np.array([_OF.get(each.of, -1) if each else -1 for each in means], np.int64)
    held_out = np.array([each is not None and each.split == "validation" for each in means], bool)
    factor = np.array([name.factor for name in numbers.names])
    kept = np.flatnonzero(of[numbers.name] >= 0) if means else np.zeros(0, np.int64)
    name, record, source = (each[kept] for each in (numbers.name, numbers.record, numbers.source))
    of, value = of[name], numbers.value[kept] * factor[name]
    is_signal = of > 1
    # where each record that is a row begins, one for each split, in the order of their first values
    key = np.where(is_signal, 2 * record + held_out[name], -1)
    keys, at = np.unique(key[is_signal], return_index=True)
    first = np.flatnonzero(is_signal)[at]
    order = np.argsort(first)
    first, row_of = first[order], np.argsort(order)
    values = np.full((len(NUMBERS), len(first)), np.nan)
    logged = np.zeros(values.shape, bool)
    backward = np.flatnonzero(is_signal)[::-1]  # of several values of a signal the first counts
    rows = row_of[np.searchsorted(keys, key[backward])]
    values[of[backward] - 1, rows], logged[of[backward] - 1, rows] = value[backward], True
    size = int(record.max(initial=-1)) + 1
    positions = np.full((2, size), np.nan)
    is_said = (of == _OF["epoch"]) | ((of == _OF["step"]) & _is_whole(value))
    backward = np.flatnonzero(is_said)[::-1]
    positions[of[backward], record[backward]] = value[backward]
    has_signal = np.zeros(size, bool)
    has_signal[record[is_signal]] = True
    spoken = np.zeros(size, np.int64)
    heads = record[is_said & ~has_signal[record]]
    spoken[heads] = heads
    spoken = np.maximum.accumulate(spoken)
    source_of = np.full(size, NOWHERE)
    source_of[record] = source
    places = record[first]
    head = spoken[places]
    is_own = ~np.isnan(positions[:, places]).all(axis=0)
    is_headed = ~is_own & (source_of[head] == source[first]) & ~has_signal[head]
    step, epoch = np.where(is_headed, positions[:, head], positions[:, places])
    logged[0], values[0] = ~np.isnan(epoch), epoch
    step = np.where(np.isnan(step), NOWHERE, step).astype(np.int64)
    line = numbers.line[kept][first]
    return Rows(source[first], line, step, ~held_out[name[first]], values, logged)


def _is_whole(value: Array) -> Mask:
    """Where numbers are numbers of steps."""
    whole: Mask = (value >= 0) & (value < 2**53) & (value == np.floor(value))
    return whole


def known(number: int) -> int | None:
    """A line or step, if there is one."""
    return None if number == NOWHERE else int(number)


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
    numbers
        All numbers that were logged, in the order of sources and lines.
    events
        In the same order.
    history
        All that failbench's own monitor measured, where its log is among the sources; of several
        the first.
    words
        What is said in it, without numbers and paths (``failbench.diagnose.readers.excerpt``).
    """

    sources: tuple[Source, ...]
    numbers: Numbers
    events: tuple[Event, ...]
    history: History | None = None
    words: str = ""

    @cached_property
    def rows(self) -> Rows:
        """The numbers whose names stand for signals, as measurements of one time."""
        return rows_of(self.numbers)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read that is known."""
        return not (len(self.rows) or self.events or self.history)

    @property
    def present(self) -> tuple[SignalName, ...]:
        """Signals that are logged at least once."""
        return tuple(name for name in SIGNALS if self.rows.has(name).any())

    @property
    def absent(self) -> tuple[SignalName, ...]:
        """Signals that the log says nothing of."""
        present = self.present
        return tuple(name for name in SIGNALS if name not in present)

    def series(self, signal: SignalName, split: Split = "train") -> Rows:
        """The rows of a split in which a signal was logged."""
        rows = self.rows
        return rows.taken(rows.has(signal) & (rows.is_train == (split == "train")))

    def frame(self) -> pl.DataFrame:
        """The rows as a table of polars, null where a line does not say a value.

        Columns are ``source``, ``line``, ``step``, ``epoch``, ``split`` and the signals. It needs
        ``pip install 'failbench[lab]'``.
        """
        with of_extra("a table of the rows of a log"):
            import polars as pl
        rows = self.rows
        places = {"source": rows.source.astype(np.int32), "line": rows.line.astype(np.int32)}
        numbers = dict(zip(NUMBERS, rows.values, strict=True))
        table = pl.DataFrame({**places, "step": rows.step, **numbers})
        split = pl.Series(np.where(rows.is_train, *SPLITS), dtype=pl.Enum(SPLITS))
        unknown = {name: pl.Series(~rows.has(name)) for name in NUMBERS}
        unknown |= {name: table[name] == NOWHERE for name in ("line", "step")}
        return table.with_columns(
            pl.when(is_unknown).then(None).otherwise(pl.col(name)).alias(name)
            for name, is_unknown in unknown.items()
        ).select("source", "line", "step", "epoch", split.alias("split"), *SIGNALS)


def joined(parts: Sequence[Log]) -> Log:
    """Logs one after another, as one."""
    sources: list[Source] = []
    numbers, events = [], []
    for part in parts:
        offset = len(sources)
        numbers.append(replace(part.numbers, source=part.numbers.source + offset))
        events += [replace(event, source=event.source + offset) for event in part.events]
        sources += part.sources
    history = next((part.history for part in parts if part.history is not None), None)
    words = "\n".join(part.words for part in parts if part.words)
    return Log(tuple(sources), together(numbers), tuple(events), history, words)


NO_ROWS: Final = rows_of(NO_NUMBERS)


@dataclass(frozen=True)
class SignalSummary:
    """What a log holds of one signal on one split: how much, from where to where, its extremes."""

    signal: SignalName
    split: Split
    values: int
    first_step: int | None
    last_step: int | None
    last_line: int | None
    last: float
    lowest: float | None
    highest: float | None
    not_finite: int
    first_not_finite_step: int | None
    first_not_finite_line: int | None


def summaries(log: Log) -> list[SignalSummary]:
    """Each signal and split that the log has values of, in the order of ``SIGNALS``."""
    return [
        _summary(series, signal, split)
        for signal in SIGNALS
        for split in SPLITS
        if len(series := log.series(signal, split))
    ]


def _summary(series: Rows, signal: SignalName, split: Split) -> SignalSummary:
    values = series[signal]
    steps = series.step[series.step != NOWHERE]
    is_finite = np.isfinite(values)
    finite, broken = values[is_finite], series.taken(~is_finite)
    first, last = (int(steps[0]), int(steps[-1])) if len(steps) else (None, None)
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (None, None)
    step, line = (known(broken.step[0]), known(broken.line[0])) if len(broken) else (None, None)
    return SignalSummary(
        signal, split, len(values), first, last, known(series.line[-1]), float(values[-1]),
        low, high, len(broken), step, line,
    )  # fmt: skip
