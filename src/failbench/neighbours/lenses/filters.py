"""Filters: which traces a lens looks at, as ``--where`` says it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.base.errors import BadInputError

TEXTS: Final = ("model", "condition", "tokenizer", "task", "outcome")
NUMBERS: Final = ("length", "depth", "item", "seed", "tokens")

USAGE: Final = "Write task=arithmetic, model=a,b or length=4..8."


@dataclass(frozen=True)
class Filter:
    """Values of one column."""

    column: str
    values: tuple[str | int, ...] = ()
    low: int | None = None
    high: int | None = None

    @property
    def expression(self) -> pl.Expr:
        """Whether a row is kept."""
        column = pl.col(self.column)
        if self.values:
            return column.is_in(self.values)
        kept = pl.lit(value=True)
        if self.low is not None:
            kept = kept & (column >= self.low)
        if self.high is not None:
            kept = kept & (column <= self.high)
        return kept


def filter_of(text: str) -> Filter:
    """Read one filter.

    >>> filter_of("length=4..8")
    Filter(column='length', values=(), low=4, high=8)
    """
    column, equals, wanted = text.partition("=")
    known = (*TEXTS, *NUMBERS)
    if not equals or not wanted:
        raise BadInputError("--where", text, "is no filter.", USAGE)
    if column not in known:
        problem = f"there is no column {column!r} to filter."
        raise BadInputError("--where", text, problem, f"Columns are {', '.join(known)}.")
    if column in TEXTS:
        return Filter(column, tuple(wanted.split(",")))
    low, dots, high = wanted.partition("..")
    if dots and (low or high):
        return Filter(
            column,
            low=_number(low, text) if low else None,
            high=_number(high, text) if high else None,
        )
    return Filter(column, tuple(_number(part, text) for part in wanted.split(",")))


def filtered(traces: pl.DataFrame, filters: Iterable[Filter], place: object) -> pl.DataFrame:
    """The rows that all filters keep."""
    left = traces
    for each in filters:
        kept = left.filter(each.expression)
        if kept.is_empty():
            there = left[each.column].drop_nulls().unique().sort()
            shown = ", ".join(map(str, there.head(12).to_list()))
            more = ", ..." if len(there) > 12 else ""
            raise BadInputError(
                place,
                each.column,
                "no trace is left by this filter.",
                f"Values are {shown}{more}." if len(there) else "Leave the filter out.",
            )
        left = kept
    return left


def _number(part: str, text: str) -> int:
    if not part.strip().lstrip("-").isdecimal():
        raise BadInputError("--where", text, f"{part!r} is no whole number.", USAGE)
    return int(part)
