"""Numbers: all that a log measured, each with its name as printed, its step and its place."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from failbench.base.arrays import Array
from failbench.diagnose.readers.names import POSITIONS, Meaning, meaning

Places = NDArray[np.int64]
NOWHERE: Final = -1  # a line or step that is not known


class Name(NamedTuple):
    """A name as it is printed, what it means for the signals, and by what its unit multiplies."""

    text: str
    meaning: Meaning | None = None
    factor: float = 1.0


def known_name(text: str) -> Name:
    """A name with what the table of names says that it stands for."""
    return Name(text, meaning(text))


@dataclass(frozen=True)
class Numbers:
    """Every number that was logged, in the order of sources and lines.

    Attributes
    ----------
    names
        The names that occur; of one text there are several where lines mean it differently.
    name
        Which of them a number has, of shape (numbers,), as have all that follow.
    value
        The number as it is printed, without its unit.
    step
        The step, iteration or epoch that its line says, else the last one that was said, else NaN.
    line
        In which line of its source it stands, or ``NOWHERE``.
    source
        Which of the log's sources has it.
    run
        Which of the runs that the source holds, counted from 0.
    record
        What was said at one time, mostly a line, counted from 0.
    """

    names: tuple[Name, ...]
    name: Places
    value: Array
    step: Array
    line: Places
    source: Places
    run: Places
    record: Places

    def __len__(self) -> int:
        return len(self.name)

    def taken(self, places: Places) -> Numbers:
        """Some of the numbers."""
        return Numbers(self.names, *(getattr(self, name)[places] for name in _COLUMNS))

    def others(self) -> dict[str, int]:
        """Names that stand for no signal, step or epoch, and how many numbers have each."""
        counts: dict[str, int] = {}
        sizes = np.bincount(self.name, minlength=len(self.names)).tolist()
        for name, size in zip(self.names, sizes, strict=True):
            if name.meaning is None and size:
                counts[name.text] = counts.get(name.text, 0) + size
        return counts

    def texts(self) -> list[str]:
        """The name of each number."""
        return [self.names[place].text for place in self.name]


_COLUMNS: Final = [each.name for each in fields(Numbers)][1:]
NO_NUMBERS: Final = Numbers(
    (), *(np.zeros(0, float if name in ("value", "step") else np.int64) for name in _COLUMNS)
)


def together(parts: Sequence[Numbers]) -> Numbers:
    """Numbers of sources one after another."""
    moved, records = [NO_NUMBERS], 0
    names: list[Name] = []
    for part in parts:
        moved.append(replace(part, name=part.name + len(names), record=part.record + records))
        names += part.names
        records += int(part.record.max(initial=-1)) + 1
    columns = (np.concatenate([getattr(part, name) for part in moved]) for name in _COLUMNS)
    return Numbers(tuple(names), *columns)


class Collector:
    """Gathers the numbers of one source, a record for each time of measurement."""

    def __init__(self) -> None:
        self._names: dict[Name, int] = {}
        self._name, self._value = array("q"), array("d")
        # of each record: how many numbers it has, its line and its step
        self._count, self._line, self._step = array("q"), array("q"), array("d")
        self._waiting: list[int] = []
        self.said = math.nan  # the last step

    def place(self, name: Name) -> int:
        """The place of a name among those of the source."""
        return self._names.setdefault(name, len(self._names))

    def add(
        self,
        line: int | None,
        names: Sequence[int],
        values: Sequence[float],
        step: float = math.nan,
    ) -> None:
        """Add what was said at one time; without a step it is of the last one."""
        if step == step:
            self.said = step
        self._name.extend(names)
        self._value.extend(values)
        self._count.append(len(names))
        self._line.append(NOWHERE if line is None else line)
        self._step.append(self.said if step != step else step)

    def say(self, line: int | None, pairs: Iterable[tuple[Name, float]]) -> None:
        """Add numbers of which a name that means a step or an epoch tells the step."""
        found = list(pairs)
        at = {name.meaning.of: value for name, value in reversed(found) if name.meaning}
        step = at.get("step", at.get("epoch", math.nan))
        if found:
            self.add(line, [self.place(name) for name, _ in found], [v for _, v in found], step)

    def wait(self) -> None:
        """Let the last record have the step that the bar says which it was written over."""
        self._waiting.append(len(self._step) - 1)

    def redraw(self, step: float) -> None:
        """A bar is drawn again: what was written over it is of its step."""
        for record in self._waiting:
            self._step[record] = step
        self._waiting.clear()

    def numbers(self) -> Numbers:
        """All numbers so far."""
        count, line = np.array(self._count, np.int64), np.array(self._line, np.int64)
        nothing = np.zeros(len(self._name), np.int64)
        numbers = Numbers(
            tuple(self._names), np.array(self._name, np.int64), np.array(self._value),
            np.repeat(np.array(self._step), count), np.repeat(line, count), nothing, nothing,
            np.repeat(np.arange(len(count)), count),
        )  # fmt: skip
        if (np.diff(line) < 0).any():  # what waited for a line that is like it was added late
            order = np.argsort(numbers.line, kind="stable")
            numbers = numbers.taken(order)
            turns = np.diff(numbers.record, prepend=numbers.record[:1]) != 0
            numbers = replace(numbers, record=np.cumsum(turns))
        return replace(numbers, run=_runs(numbers))


# positions of a run from which one that lies before them all begins another; ranks lag by less
_BEGUN: Final = 4


def _runs(numbers: Numbers) -> Places:
    """The run of each number: one begins where the step, and the epoch if it is said, do again."""
    means = [name.meaning.of if name.meaning else "" for name in numbers.names]
    is_position = np.array([each in POSITIONS for each in means], bool)
    places = np.flatnonzero(is_position[numbers.name]) if means else NO_NUMBERS.name
    said = zip(numbers.name[places].tolist(), numbers.value[places].tolist(), strict=True)
    starts = []
    epoch, first, before, count = -math.inf, None, None, 0
    for place, (name, value) in zip(places.tolist(), said, strict=True):
        if means[name] == "step":
            at = (epoch, value)
        elif value == epoch:
            continue
        else:
            epoch, at = value, (value, -math.inf)
        if first is not None and before is not None and at < before and at <= first:
            if count >= _BEGUN:
                starts.append(int(numbers.record[place]))
            first, count = None, 0
        count += at != before
        first, before = first or at, at
    return np.searchsorted(np.array(starts, np.int64), numbers.record, "right").astype(np.int64)
