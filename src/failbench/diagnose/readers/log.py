"""The normal form of a log: rows of measurements, events, and what was not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from failbench.base.arrays import Array, Mask
from failbench.base.extras import of_extra
from failbench.diagnose.readers.names import (
    SIGNALS,
    SPLITS,
    Meaning,
    SignalName,
    Split,
    whole_number,
)
from failbench.monitor.history import History

if TYPE_CHECKING:
    import polars as pl

Places = NDArray[np.int64]
NOWHERE: Final = -1  # a line or step that is not known
NUMBERS: Final = ("epoch", *SIGNALS)
_PLACE: Final = {name: place for place, name in enumerate(NUMBERS)}
# rows that are held as Python's numbers before they become arrays, which bounds memory
_BLOCK: Final = 50_000
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


def stacked(parts: Iterable[Rows]) -> Rows:
    """Rows one after another."""
    columns = zip(*(vars(part).values() for part in (NO_ROWS, *parts)), strict=True)
    return Rows(*(np.concatenate(column, axis=-1) for column in columns))


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
    rows
        Measurements in the order of sources and lines.
    events
        In the same order.
    history
        All that failbench's own monitor measured, where its log is among the sources; of several
        the first.
    words
        What is said in it, without numbers and paths (``failbench.diagnose.readers.excerpt``).
    """

    sources: tuple[Source, ...]
    rows: Rows
    events: tuple[Event, ...]
    history: History | None = None
    words: str = ""

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
    rows, events = [], []
    for part in parts:
        offset = len(sources)
        rows.append(replace(part.rows, source=part.rows.source + offset))
        events += [replace(event, source=event.source + offset) for event in part.events]
        sources += part.sources
    history = next((part.history for part in parts if part.history is not None), None)
    words = "\n".join(part.words for part in parts if part.words)
    return Log(tuple(sources), stacked(rows), tuple(events), history, words)


class Collector:
    """Gathers one source; a line with a step alone speaks of the lines after it, as in Keras."""

    def __init__(self) -> None:
        self._rows: list[list[float | None]] = []
        self._blocks: list[Rows] = []
        self._step: int | None = None
        self._epoch: float | None = None

    def add(
        self, line: int | None, values: Iterable[tuple[Meaning, float]], split: Split | None = None
    ) -> bool:
        """Add what was measured at one time, a row for each split."""
        step: int | None = None
        epoch: float | None = None
        rows: dict[Split, list[float | None]] = {}
        for (of, own), value in values:
            if of == "step":
                step = whole_number(value) if step is None else step
            elif of == "epoch":
                epoch = value if epoch is None else epoch
            else:
                part = own or split or "train"
                if part not in rows:
                    rows[part] = [None] * len(NUMBERS)
                if rows[part][_PLACE[of]] is None:
                    rows[part][_PLACE[of]] = value
        if not rows:
            if step is not None or epoch is not None:
                self._step, self._epoch = step, epoch
            return False
        if step is None and epoch is None:
            step, epoch = self._step, self._epoch
        at = NOWHERE if line is None else line, NOWHERE if step is None else step
        for part, numbers in rows.items():
            numbers[0] = epoch
            self._rows.append([*at, part == "train", *numbers])
        if len(self._rows) >= _BLOCK:
            self._make_block()
        return True

    def rows(self) -> Rows:
        """All rows so far."""
        self._make_block()
        return stacked(self._blocks)

    def _make_block(self) -> None:
        if not self._rows:
            return
        line, step, is_train, *numbers = zip(*self._rows, strict=True)
        source = np.zeros(len(line), np.int64)
        values = np.array(numbers, np.float64)  # None becomes NaN
        logged = np.array([[each is not None for each in column] for column in numbers])
        at = np.array(line, np.int64), np.array(step, np.int64), np.array(is_train, bool)
        self._blocks.append(Rows(source, *at, values, logged))
        self._rows = []


NO_ROWS: Final = Rows(
    *(np.zeros(0, kind) for kind in (np.int64, np.int64, np.int64, bool)),
    *(np.zeros((len(NUMBERS), 0), kind) for kind in (np.float64, bool)),
)


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
