"""Tables: parquet, whose columns have types, and CSV, whose values are text."""

from __future__ import annotations

import csv
import io
import math

import polars as pl

from failbench.publish.reproduction.difference import CHANGED, Difference, share_of
from failbench.publish.reproduction.printed import text_share
from failbench.publish.reproduction.tolerances import FileRule, Tolerance

KEY_LENGTH = 6
"""Most values in the name of a row, the first without tolerance: the key of predictions."""

COUNTED = Tolerance(absolute=1.0, relative=1e-3)
"""Tolerance of the columns of a rule: counts up to a threshold, which may change by one."""


def parquet_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two parquet files; floats have a tolerance, other columns none."""
    before, after = pl.read_parquet(committed), pl.read_parquet(regenerated)
    if before.schema != after.schema:
        return [*_columns(_typed(before), _typed(after))]
    if before.height != after.height:
        return [Difference("", "rows", str(before.height), str(after.height))]
    names = _row_names(before, rule)
    differences = []
    for column, kind in before.schema.items():
        pair = pl.DataFrame({"committed": before[column], "regenerated": after[column]})
        differing = pair.with_row_index("row").filter(
            pl.col("committed").ne_missing(pl.col("regenerated"))
        )
        tolerance = _tolerance(column, kind, rule)
        for row, value, other in differing.iter_rows():
            share = CHANGED if tolerance is None else _number_share(value, other, tolerance)
            differences.append(Difference(names[row], column, _shown(value), _shown(other), share))
    return differences


def points_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two CSV files; fractions have a tolerance, other values are texts."""
    (header, *before), (other_header, *after) = _csv_rows(committed), _csv_rows(regenerated)
    if header != other_header:
        return [*_columns(header, other_header)]
    if len(before) != len(after):
        return [Difference("", "rows", str(len(before)), str(len(after)))]
    differences = []
    for number, (row, other_row) in enumerate(zip(before, after, strict=True), start=1):
        name = _name(number, [value for value in row if _fraction(value) is None])
        for column, value, other in zip(header, row, other_row, strict=True):
            share = _text_value_share(value, other, rule.tolerance)
            if share:
                differences.append(Difference(name, column, _shown(value), _shown(other), share))
    return differences


def _tolerance(column: str, kind: pl.DataType, rule: FileRule) -> Tolerance | None:
    if column in rule.columns:
        return COUNTED
    return rule.tolerance if kind.is_float() else None


def _number_share(value: float | None, other: float | None, tolerance: Tolerance) -> float:
    if value is None or other is None:
        return CHANGED
    return share_of(value, other, tolerance)


def _text_value_share(value: str, other: str, tolerance: Tolerance) -> float:
    if value == other:
        return 0.0
    before, after = _fraction(value), _fraction(other)
    if before is None or after is None:
        return text_share(value, other)
    return share_of(before, after, tolerance)


def _fraction(text: str) -> float | None:
    """The number in a field; None for whole numbers, which are counts or keys."""
    try:
        number = float(text)
    except ValueError:
        return None
    return None if text.lstrip("-").isdecimal() or not math.isfinite(number) else number


def _csv_rows(content: bytes) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("Its rows differ in length.")
    return rows


def _columns(committed: list[str], regenerated: list[str]) -> list[Difference]:
    return [Difference("", "columns", ", ".join(committed), ", ".join(regenerated))]


def _typed(table: pl.DataFrame) -> list[str]:
    return [f"{column} ({kind})" for column, kind in table.schema.items()]


def _row_names(table: pl.DataFrame, rule: FileRule) -> list[str]:
    keys = [c for c, kind in table.schema.items() if _tolerance(c, kind, rule) is None]
    rows = table.select(keys[:KEY_LENGTH]).rows()
    return [
        _name(number, [str(value) for value in row]) for number, row in enumerate(rows, start=1)
    ]


def _name(number: int, values: list[str]) -> str:
    key = [value for value in values if value][:KEY_LENGTH]
    return f"row {number} ({' '.join(key)})" if key else f"row {number}"


def _shown(value: object) -> str:
    return "null" if value is None or value == "" else str(value)
