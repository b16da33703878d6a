"""What is stored in tables and series of pandas."""

from __future__ import annotations

import numpy as np

from failbench.crashes.rules.evaluation.operands import as_array
from failbench.crashes.rules.frames.labels import names_of
from failbench.crashes.rules.frames.locations import by_place, column_part
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, key_of, lift
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Known,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def store_column(frame: Frame, index: Value, value: Value) -> None:
    """Store ``frame[index] = value``.

    Raises
    ------
    ViolationError
        If the value has another length than the table.
    """
    if isinstance(index, Array):
        if frame.columns is not None:
            for column in frame.columns.values():
                column.data = None
        return
    try:
        key = key_of(index)
    except NotConcreteError:
        frame.is_complete = False
        return
    if frame.columns is None:
        frame.columns, frame.is_complete = {}, False
    column = as_column(value, frame.rows)
    size = (
        column.length
        if not (isinstance(value, Known) or (isinstance(value, Array) and value.rank == 0))
        else None
    )
    is_aligned = isinstance(value, Array) and value.home == "series"
    is_empty = not frame.columns and frame.is_complete
    if (
        (
            size is not None
            and frame.rows is not None
            and not is_aligned
            and not isinstance(value, Frame)
        )
        and size != frame.rows
        and not is_empty
    ):
        raise ViolationError("ValueError", f"{size} values are stored in {frame.rows} rows")
    if is_aligned and size is not None and frame.rows is not None and size != frame.rows:
        column = Array("series", (frame.rows,))
    if is_empty and frame.rows in (0, None) and size is not None:
        frame.rows = size
    column.shape = (frame.rows,) if column.rank != 1 or frame.rows is not None else column.shape
    if column.data is not None and column.data.shape != column.shape:
        column.data = None
    column.labels, column.name = frame.labels, lift(key)
    frame.columns[key] = column
    frame.absent -= {str(key)}


def as_column(value: Value, rows: int | None) -> Array:
    """The column that a value becomes."""
    taken = as_array(value)
    if taken is None:
        size = value.size if isinstance(value, Sequence) else rows
        return Array("series", (size,))
    made = derived(taken, taken.shape, keep=True)
    made.home, made.device, made.needs_grad, made.graph = "series", "cpu", False, ()
    made.is_attained, made.uniques, made.distinct = taken.is_attained, taken.uniques, taken.distinct
    made.nan, made.inf, made.data = facts.has_nan(taken), taken.inf, taken.data
    made.categories, made.labels = taken.categories, taken.labels
    if taken.dtype == "object" and taken.data is not None and taken.data.dtype.kind == "O":
        types = {
            type(each).__name__
            for each in taken.data.ravel().tolist()
            if each is not None and each == each
        }
        made.element_types = tuple(sorted(types))
        if types == {"str"} and taken.home not in ("series", "numpy"):
            made.dtype = "str"
    if taken.rank == 0:
        made.shape = (rows,)
        if taken.data is not None and rows is not None and rows <= 10_000:
            made.data = np.full(rows, taken.data)
        elif taken.data is not None:
            made.data = None
            low, high, attained = facts.bounds(taken)
            made.low, made.high, made.is_attained = low, high, attained
    return made


def store_in_series(series: Array, _index: Value, value: Value) -> None:
    """Store ``series[index] = value``.

    Raises
    ------
    ViolationError
        If the value is none of the categories.
    """
    _check_fit(series, value)
    series.data, series.uniques, series.distinct, series.is_attained = None, None, None, False
    series.low = series.high = series.nan = None
    series.labels = None


def _check_fit(column: Array, value: Value) -> None:
    if not isinstance(value, Known) or value.data is None:
        return
    if (
        column.categories is not None
        and value.data == value.data
        and value.data not in column.categories
    ):
        raise ViolationError(
            "TypeError", f"{value.data!r} is none of the categories {column.categories[:5]}"
        )
    kind = facts.kind(column)
    if kind in ("i", "u", "f", "b") and isinstance(value.data, str):
        raise ViolationError("TypeError", f"{value.data!r} is no value of {column.dtype}")
    if (
        kind in ("i", "u")
        and isinstance(value.data, float)
        and value.data == value.data
        and value.data % 1
    ):
        raise ViolationError("TypeError", f"{value.data!r} is no value of {column.dtype}")
    if column.dtype == "str" and isinstance(value.data, (int, float)) and value.data == value.data:
        raise ViolationError("TypeError", f"{value.data!r} is no text")


def store_located(owner: Thing, index: Value, value: Value) -> None:
    """Store ``x.loc[index] = value``.

    Raises
    ------
    ViolationError
        If a position is not there, or the value is none of a column's type.
    """
    table = owner.facts["of"]
    parts = [index]
    if isinstance(index, Sequence) and index.kind == "tuple":
        parts = index.items or []
    if isinstance(table, Array):
        if owner.path == "pandas.iloc" and parts:
            by_place(table, parts[0])
        store_in_series(table, index, value)
        return
    if not isinstance(table, Frame):
        return
    if owner.path == "pandas.iloc" and parts:
        by_place(table, parts[0])
        if len(parts) > 1:
            column_part(table, Unknown(), parts[1], True)
    names = (
        names_of(parts[1]) if len(parts) > 1 and owner.path in ("pandas.loc", "pandas.at") else []
    )
    if len(parts) == 1:
        table.rows, table.labels = None, None
        for column in (table.columns or {}).values():
            column.data = None
            column.shape = (None,)
        return
    for name in names:
        if table.columns is not None and name in table.columns:
            column = table.columns[name]
            _check_fit(column, value)
            gap = isinstance(value, (Known, Array)) and is_gap(value)
            column.data, column.uniques, column.distinct, column.is_attained = (
                None,
                None,
                None,
                False,
            )
            column.nan = True if gap and not isinstance(parts[0], Unknown) else None
            column.low = column.high = None
        elif table.columns is not None:
            table.columns[name] = Array("series", (table.rows,))
    if not isinstance(parts[0], Array) and not (
        isinstance(parts[0], Known) and isinstance(parts[0].data, slice)
    ):
        key_is_new = owner.path in ("pandas.loc", "pandas.at")
        if key_is_new:
            table.rows, table.labels = None, None


def is_gap(value: Value) -> bool:
    """Whether a value stands for what is missing."""
    try:
        data = concrete(value)
    except NotConcreteError:
        return False
    return data is None or (isinstance(data, float) and data != data)
