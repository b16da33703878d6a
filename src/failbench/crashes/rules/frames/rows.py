"""Rows of tables and series that are taken."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.values import Array, Frame, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def select(frame: Frame, names: list[Hashable]) -> Frame:
    """A table of some of the columns."""
    if frame.columns is None:
        made = {name: Array("series", (frame.rows,)) for name in names}
        return Frame(made, True, frame.rows, frame.labels)
    columns = {name: frame.columns.get(name) or Array("series", (frame.rows,)) for name in names}
    return Frame(columns, True, frame.rows, frame.labels)


def rows_of(frame: Frame, rows: int | None, data: Any = None) -> Frame:
    """A table with the same columns and other rows."""
    if frame.columns is None:
        return Frame(None, frame.is_complete, rows)
    columns = {name: part_of(column, rows, data) for name, column in frame.columns.items()}
    labels = None if frame.labels is None else part_of(frame.labels, rows, data)
    for column in columns.values():
        column.labels = labels
    return Frame(columns, frame.is_complete, rows, labels)


def part_of(array: Array, rows: int | None, data: Any = None) -> Array:
    """Some elements of a series: those that ``data``, a mask, slice or places, picks."""
    made = derived(array, (rows,), keep=True)
    made.name, made.labels = array.name, array.labels
    if data is not None and array.data is not None:
        try:
            made.data = array.data[data]
            made.shape = made.data.shape
        except (IndexError, ValueError, TypeError):
            made.data = None
    if array.labels is not None and made.labels is array.labels:
        made.labels = part_of(array.labels, rows, data) if array.labels.labels is None else None
    return made


def check_mask(rows: int | None, size: int | None, exception: str) -> None:
    """Refuse a mask of another length."""
    if rows is not None and size is not None and rows != size:
        raise ViolationError(exception, f"a mask of {size} is used for {rows} rows")


def masked_part(owner: Frame | Array, mask: Array, by_loc: bool = False) -> Value:
    """The rows where a mask is true."""
    rows = owner.rows if isinstance(owner, Frame) else owner.length
    if mask.home == "series":
        if facts.has_nan(mask) and mask.dtype == "object":
            raise ViolationError("ValueError", "a mask has gaps")
        size = mask.length
        if (
            rows is not None
            and size is not None
            and size < rows
            and mask.labels is not None
            and mask.labels.is_unique is not False
        ):
            raise ViolationError(
                "IndexingError", f"a mask of {size} labels is used for {rows} rows"
            )
    else:
        check_mask(rows, mask.length, "IndexError" if by_loc else "ValueError")
    count = int(mask.data.sum()) if mask.data is not None and mask.data.dtype == bool else None
    data = mask.data if mask.data is not None and mask.data.dtype == bool else None
    return rows_of(owner, count, data) if isinstance(owner, Frame) else part_of(owner, count, data)


def element_of(series: Array) -> Value:
    """One value of a series."""
    if series.dtype in ("object", "str", "category", None):
        return Unknown()
    made = derived(series, (), keep=True)
    made.home = "numpy"
    return made
