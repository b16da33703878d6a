"""Estimates: intervals as rows of a table, and rows as the nested scalars of a metrics file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from failbench.statistics.bootstrap import Interval

ESTIMATE = ("value", "ci_low", "ci_high", "n")
"""What a metrics file holds of an interval."""


def estimate_rows(intervals: Mapping[str, Interval], **keys: object) -> pl.DataFrame:
    """Named intervals as a table with a row per metric.

    Parameters
    ----------
    intervals
        By metric.
    keys
        Columns that all rows share, to the left of ``metric``.

    Returns
    -------
    polars.DataFrame
        The keys, ``metric``, ``interval`` (the method that made it), and the other attributes of
        :class:`failbench.statistics.bootstrap.Interval`.
    """
    rows = []
    for metric, interval in intervals.items():
        record = interval.model_dump()
        rows.append({**keys, "metric": metric, "interval": record.pop("method"), **record})
    return pl.DataFrame(rows)


def nest(table: pl.DataFrame, *keys: str, leaves: tuple[str, ...] = ESTIMATE) -> dict[str, Any]:
    """Rows as nested scalars, a level per key.

    >>> rates = pl.DataFrame({"method": ["ebm"], "metric": ["accuracy"], "value": [0.5], "n": [76]})
    >>> nest(rates, "method", "metric", leaves=("value", "n"))
    {'ebm': {'accuracy': {'value': 0.5, 'n': 76}}}

    Parameters
    ----------
    table
        A row per combination of keys.
    keys
        Columns, the outermost level first.
    leaves
        Columns that become the scalars of the innermost level; a null is left out.

    Raises
    ------
    ValueError
        If two rows have the same keys: one would hide the other.
    """
    nested: dict[str, Any] = {}
    for row in table.iter_rows(named=True):
        level = nested
        for key in keys[:-1]:
            level = level.setdefault(str(row[key]), {})
        last = str(row[keys[-1]])
        if last in level:
            raise ValueError(f"Two rows have the same {', '.join(keys)}: {last!r}.")
        level[last] = {leaf: row[leaf] for leaf in leaves if row[leaf] is not None}
    return nested
