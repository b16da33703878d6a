"""Entries of a log: the steps at which it is written, and what of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from failbench.diagnose.readers.names import SignalName
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape


@dataclass(frozen=True)
class Entry:
    """What is logged after a step."""

    index: int
    step: int
    epoch: float
    values: dict[SignalName, float]
    validation: float | None


def entries(run: LoggedRun, shape: LogShape, first: int = 0) -> Iterator[Entry]:
    """The entries of a log, in their order."""
    columns = [(name, run.signals[name]) for name in shape.signals]
    for index, step in enumerate(run.steps):
        validation = run.validation[index] if shape.validation else None
        logged = (step + first) % shape.every == 0
        if not logged and validation is None:
            continue
        values: dict[SignalName, float] = {}
        if logged:
            for name, column in columns:
                value = column[index]
                if value is not None:
                    values[name] = value
        yield Entry(index, step, (step + 1) / run.steps_per_epoch, values, validation)


def mean_since(values: Sequence[float | None], last: int, index: int) -> float:
    """The mean over the entries after ``last`` and up to ``index``; what is not there is left out.

    >>> mean_since([9.0, 1.0, None, 3.0], 0, 3)
    2.0
    """
    interval = [value for value in values[last + 1 : index + 1] if value is not None]
    return sum(interval) / len(interval) if interval else float("nan")
