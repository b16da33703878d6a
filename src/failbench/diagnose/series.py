"""Series: the signals of a log as arrays, with the place of each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from failbench.base.arrays import Array, Mask
from failbench.diagnose.readers.log import Log

Places = NDArray[np.int64]

NOWHERE: Final = -1
"""A line or step that is not known."""

GAP: Final = "validation_gap"


@dataclass(frozen=True)
class Series:
    """One signal of a log, of the source that says most of it."""

    name: str
    values: Array
    source: int
    lines: Places
    steps: Places
    logged: Array

    def __len__(self) -> int:
        return len(self.values)


_READ: Final = {
    "loss": ("loss", "train"),
    "validation_loss": ("loss", "validation"),
    "grad_norm": ("grad_norm", "train"),
    "learning_rate": ("learning_rate", "train"),
    "memory": ("memory", "train"),
    "throughput": ("throughput", "train"),
}


def series_of(log: Log) -> dict[str, Series]:
    """The series of a log by their names, those alone that have a value.

    A loss that is not logged is the logarithm of the perplexity that is. ``validation_gap`` is the
    validation loss less the median of the last five training losses before it.
    """
    columns = _Columns.of(log.rows)
    found = {
        name: series
        for name, (signal, split) in _READ.items()
        if (series := columns.series(name, signal, split)) is not None
    }
    if "loss" in found and "validation_loss" in found:
        gap = _gap(found["loss"], found["validation_loss"])
        found |= {GAP: gap} if len(gap) else {}
    return found


@dataclass(frozen=True)
class _Columns:
    """A log's rows as arrays, each of shape (rows,)."""

    rows: pl.DataFrame
    sources: Places
    lines: Places
    steps: Places
    is_trained: Mask

    @classmethod
    def of(cls, rows: pl.DataFrame) -> _Columns:
        sources, lines, steps = (
            rows[name].cast(pl.Int64).fill_null(NOWHERE).to_numpy()
            for name in ("source", "line", "step")
        )
        return cls(rows, sources, lines, steps, (rows["split"] == "train").to_numpy())

    def series(self, name: str, signal: str, split: str) -> Series | None:
        """A series of the source with the most values, the first of those with as many."""
        column = self.rows[signal]
        values = column.to_numpy().astype(np.float64, copy=False)
        wanted = column.is_not_null().to_numpy()
        wanted = wanted & (self.is_trained == (split == "train"))
        if not wanted.any() and signal == "loss":
            perplexity = self.rows["perplexity"].fill_null(-1.0).to_numpy()
            wanted = (perplexity > 0) & (self.is_trained == (split == "train"))
            values = np.log(np.where(wanted, perplexity, 1.0))
        if not wanted.any():
            return None
        source = int(np.bincount(self.sources[wanted]).argmax())
        wanted = wanted & (self.sources == source)
        if wanted.all():  # a long log says all in every line: its places are not copied
            return Series(name, values, source, self.lines, self.steps, values)
        taken = values[wanted]
        return Series(name, taken, source, self.lines[wanted], self.steps[wanted], taken)


def _gap(trained: Series, held_out: Series) -> Series:
    """How far validation lies above training, where the order of the two is known."""
    use_steps = min(trained.steps.min(), held_out.steps.min()) > NOWHERE
    order, at = (trained.steps, held_out.steps) if use_steps else (trained.lines, held_out.lines)
    gaps = np.full(len(held_out), np.nan)
    if use_steps or trained.source == held_out.source:
        for place, (value, position) in enumerate(zip(held_out.values, at, strict=True)):
            before = trained.values[: np.searchsorted(order, position, side="right")][-5:]
            before = before[np.isfinite(before)]
            if len(before):
                gaps[place] = value - np.median(before)
    known = np.isfinite(gaps)
    return Series(
        GAP,
        gaps[known],
        held_out.source,
        held_out.lines[known],
        held_out.steps[known],
        held_out.values[known],
    )
