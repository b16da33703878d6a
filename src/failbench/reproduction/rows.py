"""Tables of rows: parquet, whose columns have types, and CSV, whose cells are text."""

from __future__ import annotations

import csv
import io
import math

import polars as pl

from failbench.reproduction.difference import CHANGED, Difference, share_of
from failbench.reproduction.printed import printed_share
from failbench.reproduction.tolerances import Rule, Tolerance

NAMED = 6
"""A row is named by its first so many cells that have no tolerance: the key of predictions."""

COUNTED = Tolerance(absolute=1.0, relative=1e-3)
"""Of columns that a rule lists: whole numbers at a cut, which move by one when it does."""


def parquet_differences(committed: bytes, regenerated: bytes, rule: Rule) -> list[Difference]:
    """What differs between two parquet files; fractions have a tolerance, other columns none."""
    before, after = pl.read_parquet(committed), pl.read_parquet(regenerated)
    if before.schema != after.schema:
        return [*_columns(_typed(before), _typed(after))]
    if before.height != after.height:
        return [Difference("", "rows", str(before.height), str(after.height))]
    names = _row_names(before, rule)
    differences = []
    for column, kind in before.schema.items():
        pair = pl.DataFrame({"committed": before[column], "regenerated": after[column]})
        apart = pair.with_row_index("row").filter(
            pl.col("committed").ne_missing(pl.col("regenerated"))
        )
        tolerance = _tolerance(column, kind, rule)
        for row, value, other in apart.iter_rows():
            share = CHANGED if tolerance is None else _number_share(value, other, tolerance)
            differences.append(Difference(names[row], column, _shown(value), _shown(other), share))
    return differences


def points_differences(committed: bytes, regenerated: bytes, rule: Rule) -> list[Difference]:
    """What differs between two CSV files; fractions have a tolerance, other cells are texts."""
    (header, *before), (other_header, *after) = _cells(committed), _cells(regenerated)
    if header != other_header:
        return [*_columns(header, other_header)]
    if len(before) != len(after):
        return [Difference("", "rows", str(len(before)), str(len(after)))]
    differences = []
    for number, (row, other_row) in enumerate(zip(before, after, strict=True), start=1):
        name = _name(number, [cell for cell in row if _fraction(cell) is None])
        for column, cell, other in zip(header, row, other_row, strict=True):
            share = _cell_share(cell, other, rule.tolerance)
            if share:
                differences.append(Difference(name, column, _shown(cell), _shown(other), share))
    return differences


def _tolerance(column: str, kind: pl.DataType, rule: Rule) -> Tolerance | None:
    if column in rule.columns:
        return COUNTED
    return rule.tolerance if kind.is_float() else None


def _number_share(value: float | None, other: float | None, tolerance: Tolerance) -> float:
    if value is None or other is None:
        return CHANGED
    return share_of(value, other, tolerance)


def _cell_share(cell: str, other: str, tolerance: Tolerance) -> float:
    if cell == other:
        return 0.0
    before, after = _fraction(cell), _fraction(other)
    if before is None or after is None:
        return printed_share(cell, other)
    return share_of(before, after, tolerance)


def _fraction(cell: str) -> float | None:
    """The number in a cell; none of a whole number, which is a count or a key."""
    try:
        number = float(cell)
    except ValueError:
        return None
    return None if cell.lstrip("-").isdecimal() or not math.isfinite(number) else number


def _cells(content: bytes) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("Its rows are not of one length.")
    return rows


def _columns(committed: list[str], regenerated: list[str]) -> list[Difference]:
    return [Difference("", "columns", ", ".join(committed), ", ".join(regenerated))]


def _typed(table: pl.DataFrame) -> list[str]:
    return [f"{column} ({kind})" for column, kind in table.schema.items()]


def _row_names(table: pl.DataFrame, rule: Rule) -> list[str]:
    keys = [c for c, kind in table.schema.items() if _tolerance(c, kind, rule) is None]
    rows = table.select(keys[:NAMED]).rows()
    return [_name(number, [str(cell) for cell in row]) for number, row in enumerate(rows, start=1)]


def _name(number: int, cells: list[str]) -> str:
    named = [cell for cell in cells if cell][:NAMED]
    return f"row {number} ({' '.join(named)})" if named else f"row {number}"


def _shown(value: object) -> str:
    return "null" if value is None or value == "" else str(value)
