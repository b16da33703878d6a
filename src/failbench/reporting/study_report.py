"""Study report: all that a study shows, before any of it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from failbench.predictions import DECIMALS
from failbench.reporting.picture import Picture
from failbench.reporting.table import Table


@dataclass(frozen=True)
class Summary:
    """A short table for the terminal."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]

    @classmethod
    def of(cls, table: pl.DataFrame, *columns: str) -> Summary:
        """Some columns of a table."""
        return cls(columns, table.select(columns).rows())


@dataclass(frozen=True)
class StudyReport:
    """What a study publishes."""

    metrics: Mapping[str, object] = field(default_factory=dict)
    points: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    figures: Mapping[str, Picture] = field(default_factory=dict)
    summary: tuple[Summary, ...] = ()
    sentences: Mapping[str, str] = field(default_factory=dict)


FLOATS: Final = pl.selectors.float()


def rounded(table: pl.DataFrame, *exact: str) -> pl.DataFrame:
    """A table as it is published: floating-point columns at six decimals.

    Figures and tables are made from the rounded values, so that whoever reads the published points
    draws the same.
    """
    columns = FLOATS - pl.selectors.by_name(*exact, require_all=False) if exact else FLOATS
    return table.with_columns(columns.round(DECIMALS))
