"""Items of pandas by loc, iloc, at and iat."""

from __future__ import annotations

from typing import Any

import numpy as np

from failbench.crashes.rules.frames.labels import (
    check_columns,
    check_label,
    labels_are_flat,
    labels_known,
)
from failbench.crashes.rules.frames.rows import element_of, masked_part, part_of, rows_of, select
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Function,
    Known,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def located(owner: Thing, index: Value, state: State) -> Value:
    """The value of ``x.loc[index]``, ``x.iloc[index]``, ``x.at[index]`` or ``x.iat[index]``.

    Raises
    ------
    ViolationError
        If a label or position is not there.
    """
    table = owner.facts["of"]
    parts = [index]
    if isinstance(index, Sequence) and index.kind == "tuple":
        parts = index.items or []
    if any(isinstance(part, Function) for part in parts):
        parts = [state.call(p, [table]) if isinstance(p, Function) else p for p in parts]
    if not parts or not isinstance(table, (Frame, Array)):
        return Unknown()
    is_place = owner.path in ("pandas.iloc", "pandas.iat")
    limit = 2 if isinstance(table, Frame) else 1
    if len(parts) > limit and (is_place or labels_are_flat(table)):
        raise ViolationError(
            "IndexingError", f"{len(parts)} indices are given where {limit} are due"
        )
    if len(parts) > limit:
        return Unknown()
    if len(parts) > 1 and not is_place and not labels_are_flat(table):
        return Unknown()
    selected = (by_place if is_place else _by_label)(table, parts[0])
    if len(parts) == 1 or not isinstance(table, Frame):
        return selected
    return column_part(table, selected, parts[1], is_place)


def by_place(table: Frame | Array, part: Value) -> Value:
    """The rows that ``iloc`` and ``iat`` select."""
    rows = table.rows if isinstance(table, Frame) else table.length
    if isinstance(part, Known) and isinstance(part.data, (str, float)):
        raise ViolationError("TypeError", "places are whole numbers")
    if isinstance(part, Array) and facts.kind(part) == "b" and part.rank:
        if part.home == "series":
            raise ViolationError(
                "NotImplementedError"
                if facts.kind(table.labels or Array("index")) == "i"
                else "ValueError",
                "a mask with an index is no place",
            )
        return masked_part(table, part, by_loc=True)
    try:
        place = concrete(part)
    except NotConcreteError:
        if isinstance(part, Array) and rows is not None:
            _check_places(part, rows)
        if isinstance(part, Array) and part.rank == 1:
            return (
                rows_of(table, part.length)
                if isinstance(table, Frame)
                else part_of(table, part.length)
            )
        return Unknown()
    if isinstance(place, slice):
        count = None
        if rows is not None and all(
            isinstance(e, (int, type(None))) for e in (place.start, place.stop, place.step)
        ):
            count = len(range(*place.indices(rows)))
        return (
            rows_of(table, count, place)
            if isinstance(table, Frame)
            else part_of(table, count, place)
        )
    places = place if isinstance(place, (list, np.ndarray)) else [place]
    for each in places:
        if (
            isinstance(each, (int, np.integer))
            and not isinstance(each, bool)
            and rows is not None
            and not -rows <= each < rows
        ):
            raise ViolationError(
                "IndexError", f"there is no place {each} where there are {rows} rows"
            )
    if isinstance(place, (list, np.ndarray)):
        data = np.asarray(place) if len(place) else None
        return (
            rows_of(table, len(place), data)
            if isinstance(table, Frame)
            else part_of(table, len(place), data)
        )
    return Unknown() if isinstance(table, Frame) else element_of(table)


def _check_places(index: Array, rows: int) -> None:
    low, high, is_attained = facts.bounds(index)
    if low is None or high is None or index.size == 0:
        return
    if (is_attained and (high >= rows or low < -rows)) or low >= rows:
        raise ViolationError(
            "IndexError", f"there is no place {high:g} where there are {rows} rows"
        )


def _by_label(table: Frame | Array, part: Value) -> Value:
    labels = table.labels
    rows = table.rows if isinstance(table, Frame) else table.length
    if isinstance(part, Array) and facts.kind(part) == "b" and part.rank:
        return masked_part(table, part, by_loc=True)
    try:
        key = concrete(part)
    except NotConcreteError:
        if isinstance(part, Array) and part.rank:
            return rows_of(table, None) if isinstance(table, Frame) else part_of(table, None)
        return Unknown()
    if isinstance(key, slice):
        return rows_of(table, None) if isinstance(table, Frame) else part_of(table, None)
    if isinstance(key, list):
        if key and all(isinstance(each, bool) for each in key):
            return rows_of(table, None) if isinstance(table, Frame) else part_of(table, None)
        for each in key:
            check_label(labels, rows, each)
        return rows_of(table, len(key)) if isinstance(table, Frame) else part_of(table, len(key))
    if isinstance(key, np.ndarray):
        return rows_of(table, None) if isinstance(table, Frame) else part_of(table, None)
    check_label(labels, rows, key)
    if isinstance(table, Frame):
        return _row(table, key)
    return element_of(table)


def _row(frame: Frame, key: Any) -> Value:
    if frame.columns is None or not frame.is_complete:
        return Unknown()
    known = labels_known(frame.labels)
    row = Array("series", (len(frame.columns),))
    row.labels = of_data(np.array(list(frame.columns), dtype=object), "index", "str")
    if known is not None and known.count(key) == 1:
        place = known.index(key)
        columns = list(frame.columns.values())
        if all(column.data is not None for column in columns):
            cells = [
                column.data[place].item()
                for column in columns
                if column.data is not None and hasattr(column.data[place], "item")
            ]
            if len(cells) == len(columns) and all(isinstance(each, (int, float)) for each in cells):
                row.data, row.dtype = np.array(cells), "float64"
        return row
    return Unknown()


def column_part(frame: Frame, selected: Value, part: Value, is_place: bool) -> Value:
    """What is selected of the columns, of rows that are already selected."""
    try:
        key = concrete(part)
    except NotConcreteError:
        return Unknown()
    if is_place:
        count = len(frame.columns) if frame.columns is not None and frame.is_complete else None
        if isinstance(key, (int, np.integer)) and count is not None and not -count <= key < count:
            raise ViolationError(
                "IndexError", f"there is no place {key} where there are {count} columns"
            )
        if isinstance(selected, Frame) and selected.columns is not None and count is not None:
            names = list(selected.columns)
            if isinstance(key, (int, np.integer)):
                return selected.columns[names[key]]
            if isinstance(key, slice):
                return select(selected, names[key])
        return Unknown()
    if isinstance(key, slice):
        return selected if isinstance(selected, Frame) else Unknown()
    names = list(key) if isinstance(key, list) else [key]
    if names and all(isinstance(each, bool) for each in names):
        return Unknown()
    try:
        check_columns(frame, names)
    except TypeError:
        return Unknown()
    if isinstance(selected, Frame) and selected.columns is not None:
        if isinstance(key, list):
            return select(selected, names)
        return selected.columns.get(key, Unknown())
    return Unknown()
