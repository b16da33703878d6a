"""Series: what one source of a log measured, as those that look for traps take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

FEWEST: Final = 8
"""Values of a series that has a course: of fewer, a quarter is a single one."""


@dataclass(frozen=True)
class Measured:
    """The rows of one source."""

    train: pl.DataFrame
    held_out: pl.DataFrame

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Measured:
        """Divide the rows of a source, of ``ROW_SCHEMA``."""
        is_trained = pl.col("split").cast(pl.String) == "train"
        return cls(rows.filter(is_trained), rows.filter(~is_trained))

    @property
    def nothing(self) -> pl.DataFrame:
        """No rows."""
        return self.train.clear()

    @property
    def losses(self) -> pl.DataFrame:
        """Rows of training whose loss is finite."""
        return self.train.filter(pl.col("loss").is_finite())

    @property
    def learns(self) -> bool:
        """Whether the last quarter of losses lies mostly below all of the first one."""
        losses = self.losses["loss"]
        if len(losses) < FEWEST:
            return False
        quarter = len(losses) // 4
        return bool(losses.tail(quarter).median() < losses.head(quarter).min())  # type: ignore[operator]


def all_zero(rows: pl.DataFrame, signal: str) -> pl.DataFrame:
    """The rows with a signal, if there are several and it is exactly 0 in each; else none."""
    logged = rows.filter(pl.col(signal).is_not_null())
    if logged.height < FEWEST or not (logged[signal] == 0.0).all():
        return rows.clear()
    return logged
