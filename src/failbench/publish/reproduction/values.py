"""Values of files: nested ones by key, and rows of tables, whose floats have a tolerance."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator

import polars as pl
import yaml

from failbench.publish.reproduction.printed import text_share
from failbench.publish.reproduction.tolerances import (
    CHANGED,
    COUNTED,
    Difference,
    FileRule,
    Tolerance,
)

MISSING_KEY = "(absent)"

KEY_LENGTH = 6
"""Most values in the name of a row, the first without tolerance: the key of predictions."""


def metrics_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two files of metrics, by key; fractions have a tolerance."""
    return _nested(json.loads(committed), json.loads(regenerated), rule.tolerance)


def lock_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two locks; hashes and sizes are not, as the files are compared."""
    before, after = (_declared(yaml.safe_load(text)) for text in (committed, regenerated))
    return _nested(before, after, rule.tolerance)


def described_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two Croissant descriptions, but for hashes and sizes, as of locks."""
    before, after = (_without_hashes(json.loads(text)) for text in (committed, regenerated))
    return _nested(before, after, rule.tolerance)


def _without_hashes(description: object) -> object:
    """A description without what identifies the content of files, lists keyed by position."""
    if isinstance(description, dict):
        kept = description.keys() - {"sha256", "contentSize"}
        return {key: _without_hashes(value) for key, value in description.items() if key in kept}
    if isinstance(description, list):
        return {str(place): _without_hashes(item) for place, item in enumerate(description)}
    return description


def _declared(lock: object) -> object:
    """A lock without hashes and sizes, with dependencies keyed by path."""
    if isinstance(lock, dict):
        return {key: _declared(value) for key, value in lock.items()}
    if isinstance(lock, list) and all(isinstance(item, dict) and "path" in item for item in lock):
        return {str(item["path"]): True for item in lock}
    return lock


def _nested(committed: object, regenerated: object, limit: Tolerance) -> list[Difference]:
    before, after = dict(_leaves(committed)), dict(_leaves(regenerated))
    differences = []
    for key in before | after:
        value, other = before.get(key, MISSING_KEY), after.get(key, MISSING_KEY)
        share = 0.0 if type(value) is type(other) and value == other else CHANGED
        if isinstance(value, float) and isinstance(other, float):
            share = limit.share(value, other)
        if share:
            differences.append(Difference("", key, str(value), str(other), share))
    return differences


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def parquet_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two parquet files; floats have a tolerance, other columns none."""
    before, after = pl.read_parquet(committed), pl.read_parquet(regenerated)
    typed = [[f"{name} ({kind})" for name, kind in each.schema.items()] for each in (before, after)]
    if shape := _shape_differences(typed[0], typed[1], before.height, after.height):
        return shape
    limits = {
        column: COUNTED if column in rule.columns else rule.tolerance if kind.is_float() else None
        for column, kind in before.schema.items()
    }
    key = [column for column, limit in limits.items() if limit is None][:KEY_LENGTH]
    names = [_name(row, map(str, values)) for row, values in enumerate(before.select(key).rows())]
    differences = []
    for column, limit in limits.items():
        for row in before[column].ne_missing(after[column]).arg_true():
            value, other = before[column][row], after[column][row]
            is_number = limit is not None and value is not None and other is not None
            share = limit.share(value, other) if limit is not None and is_number else CHANGED
            differences.append(Difference(names[row], column, _text(value), _text(other), share))
    return differences


def points_differences(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    """Differences between two CSV files; fractions have a tolerance, other values are texts."""
    (header, *before), (other_header, *after) = _csv_rows(committed), _csv_rows(regenerated)
    if shape := _shape_differences(header, other_header, len(before), len(after)):
        return shape
    differences = []
    for number, (row, other_row) in enumerate(zip(before, after, strict=True)):
        name = _name(number, (value for value in row if _fraction(value) is None))
        for column, value, other in zip(header, row, other_row, strict=True):
            numbers = _fraction(value), _fraction(other)
            share = text_share(value, other)
            if share and None not in numbers:
                share = rule.tolerance.share(*numbers)  # type: ignore[arg-type]
            if share:
                differences.append(Difference(name, column, _text(value), _text(other), share))
    return differences


def _shape_differences(
    columns: list[str], others: list[str], rows: int, other_rows: int
) -> list[Difference]:
    if columns != others:
        return [Difference("", "columns", ", ".join(columns), ", ".join(others))]
    return [] if rows == other_rows else [Difference("", "rows", str(rows), str(other_rows))]


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


def _name(row: int, values: Iterator[str]) -> str:
    key = [value for value in values if value][:KEY_LENGTH]
    return f"row {row + 1} ({' '.join(key)})" if key else f"row {row + 1}"


def _text(value: object) -> str:
    return "null" if value is None or value == "" else str(value)
