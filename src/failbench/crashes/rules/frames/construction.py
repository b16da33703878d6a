"""Tables and series of pandas that are made of other values."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.frames.conversion import to_type
from failbench.crashes.rules.frames.indexes import index_of, rows_index
from failbench.crashes.rules.frames.rows import rows_of
from failbench.crashes.rules.frames.storage import as_column
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import lift, of_data
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def frame(call: Call) -> Value:
    """A table of what is given.

    Raises
    ------
    ViolationError
        If columns have other lengths, or names are other than there are columns.
    """
    value = call.arg(0, "data")
    labels = index_of(call.arg(1, "index"))
    given = call.arg(2, "columns")
    names = _labels(given)
    if value is None or (isinstance(value, Known) and value.data is None):
        rows = 0 if labels is None else labels.length
        columns = (
            None if names is None else {name: Array("series", (rows,), "object") for name in names}
        )
        return Frame(columns if given is not None else {}, True, rows, labels or rows_index(rows))
    if isinstance(value, Mapping):
        return _of_columns(value, labels, names if given is not None else None, given is not None)
    if isinstance(value, Frame):
        made = rows_of(value, value.rows, slice(None))
        return made if given is None and labels is None else Frame(None, False, value.rows)
    if (
        isinstance(value, Sequence)
        and value.items
        and all(isinstance(e, Mapping) for e in value.items)
    ):
        return _of_records(value, labels)
    if isinstance(value, Sequence) and value.items is not None:
        return _of_rows(value.items, labels, names, given is not None)
    array = operands.as_array(value)
    if array is None:
        return Frame(None, False, None, labels)
    return _of_grid(array, labels, names, given is not None)


def _labels(value: Value | None) -> list[Hashable] | None:
    if value is None:
        return None
    taken = index_of(value)
    return None if taken is None or taken.data is None else list(taken.data.tolist())


def _of_columns(
    value: Mapping, labels: Array | None, names: list[Hashable] | None, is_given: bool
) -> Frame:
    sizes: dict[Hashable, int] = {}
    rows = None
    for key, each in value.items.items():
        is_one = isinstance(each, Known) or (isinstance(each, Array) and each.rank == 0)
        size = None if is_one or isinstance(each, Mapping) else iteration.length(each)
        if isinstance(each, Array) and each.rank is not None and each.rank > 1:
            raise ViolationError("ValueError", "a column has one axis")
        if size is not None and not (isinstance(each, Array) and each.home == "series"):
            sizes[key] = size
        elif size is not None:
            rows = rows if rows is not None else size
            if rows != size:
                rows = -1
    if len(set(sizes.values())) > 1:
        raise ViolationError(
            "ValueError", f"columns have the lengths {sorted(set(sizes.values()))}"
        )
    all_plain = all(isinstance(e, Known) for e in value.items.values())
    if all_plain and value.items and labels is None and value.is_complete:
        raise ViolationError("ValueError", "columns that are all scalars need an index")
    if sizes:
        rows = next(iter(sizes.values()))
        if labels is not None and labels.length is not None and labels.length != rows:
            raise ViolationError(
                "ValueError", f"an index of {labels.length} is given for {rows} rows"
            )
    elif labels is not None:
        rows = labels.length
    is_unaligned = rows == -1
    rows = None if is_unaligned else rows
    series = [e for e in value.items.values() if isinstance(e, Array) and e.home == "series"]
    if labels is None:
        labels = series[0].labels if series and not is_unaligned else rows_index(rows)
    columns = {}
    for key, each in value.items.items():
        column = as_column(each, rows)
        column.labels, column.name = labels, lift(key)
        if column.dtype == "object" and column.element_types == ("str",):
            column.dtype = "str"
        columns[key] = column
    if is_given:
        if names is None:
            return Frame(None, False, rows, labels)
        columns = {name: columns.get(name, Array("series", (rows,))) for name in names}
    return Frame(columns, value.is_complete, rows, labels)


def _of_records(value: Sequence, labels: Array | None) -> Frame:
    records = [item for item in value.items or [] if isinstance(item, Mapping)]
    keys: dict[Hashable, None] = {}
    for record in records:
        keys |= dict.fromkeys(record.items)
    columns = {}
    for key in keys:
        cells = [record.items.get(key, Known(None)) for record in records]
        columns[key] = as_column(Sequence("list", cells), len(records))
        columns[key].shape = (len(records),)
    return Frame(
        columns,
        all(r.is_complete for r in records),
        len(records),
        labels or rows_index(len(records)),
    )


def _of_rows(
    items: list[Value], labels: Array | None, names: list[Hashable] | None, is_given: bool
) -> Frame:
    lengths = {iteration.length(each) for each in items}
    if names is not None and is_given and len(lengths) == 1 and None not in lengths:
        width = next(iter(lengths))
        if width != len(names) and all(isinstance(each, Sequence) for each in items):
            raise ViolationError("ValueError", f"{len(names)} names are given for {width} columns")
    if names is not None and is_given:
        columns = {}
        for place, name in enumerate(names):
            cells = [
                e.items[place]
                if isinstance(e, Sequence) and e.items and place < len(e.items)
                else Unknown()
                for e in items
            ]
            columns[name] = as_column(Sequence("list", cells), len(items))
            columns[name].shape = (len(items),)
        return Frame(columns, True, len(items), labels or rows_index(len(items)))
    array = operands.as_array(Sequence("list", items))
    if array is not None and array.rank == 2:
        return _of_grid(array, labels, None, False)
    return Frame(None, False, len(items), labels)


def _of_grid(
    array: Array, labels: Array | None, names: list[Hashable] | None, is_given: bool
) -> Frame:
    if array.shape is None:
        return Frame(
            None if names is None else {n: Array("series", (None,)) for n in names},
            names is not None,
        )
    if len(array.shape) > 2:
        raise ViolationError("ValueError", f"a table has two axes, not {len(array.shape)}")
    rows = array.shape[0] if array.shape else None
    if array.fields is not None or array.dtype in (None, "void"):
        return Frame(None, False, rows)
    width = array.shape[1] if len(array.shape) == 2 else 1
    if names is not None and width is not None and len(names) != width:
        raise ViolationError("ValueError", f"{len(names)} names are given for {width} columns")
    if array.home == "series" and labels is not None:
        return Frame(None, False, labels.length, labels)
    if labels is not None and None not in (labels.length, rows) and labels.length != rows:
        raise ViolationError("ValueError", f"an index of {labels.length} is given for {rows} rows")
    known = names if is_given else None if width is None else list(range(width))
    if known is None:
        return Frame(None, False, rows, labels or rows_index(rows))
    columns: dict[Hashable, Array] = {}
    for place, name in enumerate(known):
        column = derived(array, (rows,), keep=True)
        column.home, column.nan = "series", facts.has_nan(array) if width == 1 else None
        if facts.has_nan(array) is False:
            column.nan = False
        if array.data is not None:
            column.data = array.data if array.data.ndim == 1 else array.data[:, place]
        columns[name] = column
    return Frame(columns, True, rows, labels or rows_index(rows))


def series(call: Call) -> Value:
    """A series of what is given."""
    value = call.arg(0, "data")
    labels = index_of(call.arg(1, "index"))
    if value is None:
        return Array("series", (0 if labels is None else labels.length,))
    if isinstance(value, Mapping):
        if labels is not None:
            return Array("series", (labels.length,), labels=labels)
        keys = (
            of_data(np.array(list(value.items), dtype=object), "index")
            if value.is_complete
            else None
        )
        column = as_column(Sequence("list", list(value.items.values())), len(value.items))
        if keys is not None and keys.data is not None:
            types = {type(key) for key in value.items}
            if types == {int}:
                keys = of_data(np.array(list(value.items)), "index")
            elif types == {str}:
                keys.dtype = "str"
        column.labels = keys
        if not value.is_complete:
            column.shape, column.data = (None,), None
        return column
    taken = operands.as_array(value)
    is_array = isinstance(value, Array)
    if is_array and taken is not None and taken.rank is not None and taken.rank > 1:
        raise ViolationError("ValueError", f"a series has one axis, not {taken.rank}")
    size = iteration.length(value)
    is_one = isinstance(value, Known)
    if (
        (
            labels is not None
            and not is_one
            and not (isinstance(value, Array) and value.home == "series")
        )
        and None not in (size, labels.length)
        and size != labels.length
    ):
        raise ViolationError(
            "ValueError", f"{size} values are given for an index of {labels.length}"
        )
    if taken is not None and taken.rank is not None and taken.rank > 1:
        return Array("series", (size,), "object", labels=labels)
    column = as_column(value, labels.length if labels is not None else 1)
    column.labels = labels or rows_index(column.length)
    column.name = call.arg(3, "name")
    dtype = call.arg(2, "dtype")
    if dtype is not None:
        kept = column.labels
        column = to_type(column, named(dtype), value)
        column.labels = kept
    return column
