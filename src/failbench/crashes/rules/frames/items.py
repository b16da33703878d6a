"""Items of tables, series and groups of pandas."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from failbench.crashes.rules.evaluation.operators import as_array
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import (
    NotConcreteError,
    concrete,
    key_of,
    lift,
    of_data,
)
from failbench.crashes.rules.knowledge.shapes import derived
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

MISSING_SHOWN = 8


def labels_known(array: Array | None) -> tuple[Any, ...] | None:
    """All labels of an index, or None."""
    if array is None or array.data is None:
        return None
    return tuple(array.data.tolist())


def is_date_index(labels: Array | None) -> bool:
    """Whether an index has dates."""
    return labels is not None and (labels.dtype or "").startswith("datetime64")


def check_columns(frame: Frame, names: list[Hashable], exception: str = "KeyError") -> None:
    """Refuse columns that a table does not have.

    Raises
    ------
    ViolationError
        If one is certain not to be there.
    """
    if frame.columns is None or not frame.is_complete:
        return
    for name in names:
        if name not in frame.columns:
            known = list(frame.columns)[:MISSING_SHOWN]
            raise ViolationError(exception, f"{name!r} is none of the columns {known}")


def names_of(value: Value | None) -> list[Hashable]:
    """The columns that an argument names; those that are not known are left out."""
    if value is None:
        return []
    items: list[Value] = [value]
    if isinstance(value, Sequence) and value.kind in ("list", "set", "view", "iterator"):
        items = value.items or []
    names: list[Hashable] = []
    for item in items:
        if (
            isinstance(item, Known)
            and isinstance(item.data, (str, int))
            and not isinstance(item.data, bool)
        ):
            names.append(item.data)
    return names


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


def item_of_frame(frame: Frame, index: Value) -> Value:
    """The value of ``frame[index]``.

    Raises
    ------
    ViolationError
        If a column is not there, or a mask has another length.
    """
    if isinstance(index, Array) and index.home != "python":
        if facts.kind(index) == "b":
            return _masked(frame, index)
        if index.data is not None and index.rank == 1:
            names = index.data.tolist()
            check_columns(frame, names)
            return select(frame, names)
        return Frame(None, False, frame.rows)
    if isinstance(index, Frame):
        return rows_of(frame, frame.rows)
    if isinstance(index, Sequence) and index.kind in ("list", "view"):
        if index.items and all(
            isinstance(e, Known) and isinstance(e.data, bool) for e in index.items
        ):
            _check_mask(frame.rows, len(index.items), "ValueError")
            return rows_of(frame, None)
        try:
            names = list(concrete(index))
        except NotConcreteError:
            return Frame(None, False, frame.rows, frame.labels)
        check_columns(frame, names)
        return select(frame, names)
    try:
        key = key_of(index)
    except NotConcreteError:
        if isinstance(index, Known) and isinstance(index.data, slice):
            return rows_of(frame, None)
        return Unknown()
    if isinstance(key, slice):
        return rows_of(frame, None)
    check_columns(frame, [key])
    if frame.columns is not None and key in frame.columns:
        column = frame.columns[key]
        column.labels, column.name = frame.labels, lift(key)
        return column
    return Unknown()


def _check_mask(rows: int | None, size: int | None, exception: str) -> None:
    if rows is not None and size is not None and rows != size:
        raise ViolationError(exception, f"a mask of {size} is used for {rows} rows")


def _masked(owner: Frame | Array, mask: Array, by_loc: bool = False) -> Value:
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
        _check_mask(rows, mask.length, "IndexError" if by_loc else "ValueError")
    count = int(mask.data.sum()) if mask.data is not None and mask.data.dtype == bool else None
    data = mask.data if mask.data is not None and mask.data.dtype == bool else None
    return rows_of(owner, count, data) if isinstance(owner, Frame) else part_of(owner, count, data)


def item_of_series(series: Array, index: Value) -> Value:
    """The value of ``series[index]``.

    Raises
    ------
    ViolationError
        If a label is not there, or a mask has another length.
    """
    if isinstance(index, Array) and index.home != "python":
        if facts.kind(index) == "b":
            return _masked(series, index)
        return part_of(series, index.length)
    try:
        key = concrete(index)
    except NotConcreteError:
        return Unknown()
    if isinstance(key, slice):
        return part_of(
            series,
            None,
            key if all(type(e) in (int, type(None)) for e in (key.start, key.stop)) else None,
        )
    keys = key if isinstance(key, list) else [key]
    for each in keys:
        check_label(series.labels, series.length, each)
    if isinstance(key, list):
        return part_of(series, len(key))
    return _element(series)


def _element(series: Array) -> Value:
    if series.dtype in ("object", "str", "category", None):
        return Unknown()
    made = derived(series, (), keep=True)
    made.home = "numpy"
    return made


def check_label(
    labels: Array | None, _rows: int | None, key: Any, exception: str = "KeyError"
) -> None:
    """Refuse a label that an index does not have.

    Raises
    ------
    ViolationError
        If it is certain not to be there.
    """
    if labels is None:
        return
    known = labels_known(labels)
    kind = facts.kind(labels)
    if isinstance(key, (list, dict)):
        return
    if is_date_index(labels):
        _check_date(labels, key, exception)
        return
    if known is not None and labels.rank == 1:
        try:
            if key not in known:
                raise ViolationError(
                    exception, f"{key!r} is none of the labels {known[:MISSING_SHOWN]}"
                )
        except (TypeError, ValueError):
            return
        return
    if kind in ("i", "u") and isinstance(key, str):
        raise ViolationError(exception, f"{key!r} is no label where labels are whole numbers")
    if kind in ("i", "u") and isinstance(key, (int, np.integer)):
        low, high, _is_attained = facts.bounds(labels)
        if low is not None and high is not None and not low <= key <= high:
            raise ViolationError(
                exception, f"{key!r} is beyond the labels from {low:g} to {high:g}"
            )
    if labels.dtype == "str" and isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        raise ViolationError(exception, f"{key!r} is no label where labels are text")


def _check_date(labels: Array, key: Any, exception: str) -> None:
    if not isinstance(key, str) or labels.data is None or not labels.size:
        return
    try:
        day = np.datetime64(key)
        unit = np.datetime_data(day.dtype)[0]
        rounded = labels.data.astype(f"datetime64[{unit}]")
    except (ValueError, TypeError):
        return
    if not bool((rounded == day).any()):
        raise ViolationError(exception, f"{key!r} is none of the dates")


def item_of_group(group: Thing, index: Value) -> Value:
    """The value of ``groups[index]``.

    Raises
    ------
    ViolationError
        If a column is not there.
    """
    frame = group.facts.get("frame")
    if not isinstance(frame, Frame):
        return Unknown()
    names = names_of(index)
    check_columns(frame, names)
    facts_of = dict(group.facts)
    if isinstance(index, Known):
        facts_of["column"] = names[0] if names else None
        return Thing("pandas.core.groupby.SeriesGroupBy", facts_of)
    keys = [key for key in group.facts.get("keys") or [] if key not in names]
    facts_of["frame"] = select(frame, [*keys, *names])
    return Thing(group.path, facts_of)


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
    selected = (_by_place if is_place else _by_label)(table, parts[0])
    if len(parts) == 1 or not isinstance(table, Frame):
        return selected
    return _column(table, selected, parts[1], is_place)


def labels_are_flat(table: Frame | Array) -> bool:
    """Whether the index of a table is known to have one level."""
    labels = table.labels
    return labels is not None and (labels.dtype is not None or labels.data is not None)


def _by_place(table: Frame | Array, part: Value) -> Value:
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
        return _masked(table, part, by_loc=True)
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
    return Unknown() if isinstance(table, Frame) else _element(table)


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
        return _masked(table, part, by_loc=True)
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
    return _element(table)


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


def _column(frame: Frame, selected: Value, part: Value, is_place: bool) -> Value:
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
            _by_place(table, parts[0])
        store_in_series(table, index, value)
        return
    if not isinstance(table, Frame):
        return
    if owner.path == "pandas.iloc" and parts:
        _by_place(table, parts[0])
        if len(parts) > 1:
            _column(table, Unknown(), parts[1], True)
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
