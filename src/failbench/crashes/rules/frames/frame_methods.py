"""Methods and properties of tables of pandas."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from failbench.crashes.rules.arrays.creation import cast, of_frame
from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Handler, Property, Writer
from failbench.crashes.rules.frames.items import (
    as_column,
    check_columns,
    is_date_index,
    labels_known,
    names_of,
    part_of,
    rows_of,
)
from failbench.crashes.rules.frames.making import check_frequency, rows_index, to_type
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, lift, of_data
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Function,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def table(call: Call) -> Frame:
    """The table that a method is called of."""
    assert isinstance(call.receiver, Frame)
    return call.receiver


def given(call: Call, made: Value) -> Value:
    """The result, or None where the table itself is changed."""
    if call.flag(None, "inplace"):
        owner = table(call)
        if isinstance(made, Frame):
            owner.columns, owner.is_complete = made.columns, made.is_complete
            owner.rows, owner.labels = made.rows, made.labels
        return Known(None)
    return made


def copied(frame: Frame) -> Frame:
    """A table with the same content."""
    made = rows_of(frame, frame.rows, slice(None))
    for name, column in (made.columns or {}).items():
        old = (frame.columns or {})[name]
        column.nan, column.inf, column.uniques, column.distinct = (
            old.nan,
            old.inf,
            old.uniques,
            old.distinct,
        )
        column.is_attained, column.is_unique = old.is_attained, old.is_unique
    made.labels = frame.labels
    return made


def drop(call: Call) -> Value:
    """Without columns or rows.

    Raises
    ------
    ViolationError
        If a column or label is not there.
    """
    frame = table(call)
    axis = call.arg(1, "axis")
    by_column = isinstance(axis, Known) and axis.data in (1, "columns")
    names = names_of(call.arg(None, "columns"))
    positional = call.arg(0, "labels")
    rows = call.arg(None, "index")
    if by_column:
        names += names_of(positional)
    elif positional is not None:
        rows = positional
    ignores = call.text(None, "errors", default="raise") != "raise"
    if not ignores:
        check_columns(frame, names)
        known = labels_known(frame.labels)
        for label in names_of(rows):
            if known is not None and label not in known:
                raise ViolationError("KeyError", f"{label!r} is none of the labels")
    made = copied(frame)
    if made.columns is not None:
        certain = names if not (by_column and not names) else []
        made.columns = {k: c for k, c in made.columns.items() if k not in certain}
        columns = call.arg(None, "columns") or (positional if by_column else None)
        if columns is not None and not names:
            return given(call, Frame(None, False, frame.rows, frame.labels))
    if rows is not None:
        made = rows_of(made, None)
    return given(call, made)


def rename(call: Call) -> Value:
    """Columns with other names."""
    frame = table(call)
    mapping = call.arg(None, "columns")
    if mapping is None:
        return given(call, copied(frame))
    made = copied(frame)
    if made.columns is None:
        return given(call, made)
    if isinstance(mapping, Mapping) and mapping.is_complete:
        try:
            pairs = {key: concrete(value) for key, value in mapping.items.items()}
        except NotConcreteError:
            return given(call, Frame(None, False, frame.rows, frame.labels))
        if call.text(None, "errors") == "raise":
            check_columns(frame, list(pairs))
        made.columns = {pairs.get(key, key): column for key, column in made.columns.items()}
        return given(call, made)
    return given(call, _mapped(made, mapping, call.state))


def _mapped(frame: Frame, function: Value, state: State) -> Frame:
    columns: dict[Hashable, Array] = {}
    for key, column in (frame.columns or {}).items():
        label: Value = Unknown()
        path = getattr(getattr(function, "receiver", None), "path", "")
        name = getattr(function, "name", "")
        if (
            path == "builtins.str"
            and isinstance(key, str)
            and name in ("lower", "upper", "title", "strip", "capitalize")
        ):
            label = Known(getattr(key, name)())
        elif isinstance(function, Function):
            label = state.call(function, [lift(key)])
        if not isinstance(label, Known):
            return Frame(None, False, frame.rows, frame.labels)
        columns[label.data] = column
    return Frame(columns, frame.is_complete, frame.rows, frame.labels)


def assign(call: Call) -> Value:
    """With further columns."""
    from_frame = copied(table(call))
    if from_frame.columns is None:
        from_frame.columns, from_frame.is_complete = {}, False
    for name, value in call.kwargs.items():
        stored = call.state.call(value, [from_frame]) if isinstance(value, Function) else value
        size = iteration.length(stored)
        is_series = isinstance(stored, Array) and stored.home == "series"
        if (
            (
                not is_series
                and isinstance(stored, (Sequence, Array))
                and None not in (size, from_frame.rows)
            )
            and size != from_frame.rows
            and not (isinstance(stored, Array) and stored.rank == 0)
        ):
            raise ViolationError(
                "ValueError", f"{size} values are stored in {from_frame.rows} rows"
            )
        column = as_column(stored, from_frame.rows)
        column.shape, column.labels = (from_frame.rows,), from_frame.labels
        if column.data is not None and column.data.shape != column.shape:
            column.data = None
        from_frame.columns[name] = column
    return from_frame


def set_index(call: Call) -> Value:
    """With columns as the index."""
    frame = table(call)
    names = names_of(call.arg(0, "keys"))
    check_columns(frame, names)
    made = copied(frame)
    if made.columns is None:
        return given(call, made)
    if len(names) == 1 and names[0] in made.columns and isinstance(call.first(), Known):
        keys = (
            made.columns.pop(names[0])
            if call.flag(None, "drop", default=True)
            else made.columns[names[0]]
        )
        labels = part_of(keys, keys.length, slice(None))
        labels.home, labels.labels, labels.name = "index", None, lift(names[0])
        labels.is_unique = keys.is_unique
        made.labels = labels
        for column in made.columns.values():
            column.labels = labels
    else:
        parts = [made.columns.pop(name) for name in names if name in made.columns]
        made.labels = Array("index", (frame.rows,), None, name=Known(tuple(names)))
        made.labels.distinct = None
        made.labels.element_types = tuple(str(facts.distinct(part)) for part in parts)
    return given(call, made)


def reset_index(call: Call) -> Value:
    """With the index as a column."""
    frame = table(call)
    made = copied(frame)
    labels = frame.labels
    made.labels = rows_index(frame.rows)
    if not call.flag(None, "drop") and made.columns is not None:
        if labels is None or (labels.name is not None and not isinstance(labels.name, Known)):
            made.is_complete = False
        elif isinstance(labels.name, Known) and isinstance(labels.name.data, tuple):
            added = {name: Array("series", (frame.rows,)) for name in labels.name.data}
            made.columns = {**added, **made.columns}
        else:
            name = (
                labels.name.data
                if isinstance(labels.name, Known) and labels.name.data is not None
                else "index"
            )
            column = part_of(labels, labels.length, slice(None))
            column.home, column.name = "series", Known(name)
            if name in made.columns:
                raise ViolationError("ValueError", f"cannot insert {name}, already exists")
            made.columns = {name: column, **made.columns}
    return given(call, made)


def by_column(call: Call) -> Value:
    """Sorted by columns, or by the largest: the rows are others."""
    frame = table(call)
    place = 1 if call.name in ("nlargest", "nsmallest") else 0
    names = names_of(call.arg(place, "by", "columns", "subset", "column"))
    index_name = frame.labels.name if frame.labels is not None else None
    if not (isinstance(index_name, Known) and names and names[0] == index_name.data) and isinstance(
        index_name, (Known, type(None))
    ):
        check_columns(frame, names)
    if call.name in ("nlargest", "nsmallest"):
        for name in names:
            column = (frame.columns or {}).get(name)
            if column is not None and column.dtype in ("str", "object"):
                raise ViolationError("TypeError", f"{name!r} is of text, which has no largest")
        count = call.integer(0, "n")
        known = None if count is None or frame.rows is None else min(count, frame.rows)
        return rows_of(frame, known)
    if call.name == "explode":
        return rows_of(frame, None)
    made = rows_of(frame, frame.rows)
    return given(call, made)


def part(call: Call) -> Value:
    """Some rows: the first, the last, a sample, or those without gaps or copies."""
    frame = table(call)
    if call.name in ("head", "tail"):
        count = call.integer(0, "n", default=5)
        if count is None or frame.rows is None:
            return rows_of(frame, None)
        size = min(count, frame.rows) if count >= 0 else max(frame.rows + count, 0)
        places = slice(None, size) if call.name == "head" else slice(frame.rows - size, None)
        return rows_of(frame, size, places)
    if call.name == "sample":
        return _sample(call, frame)
    names = names_of(call.arg(0 if call.name == "drop_duplicates" else None, "subset"))
    check_columns(frame, names)
    made = rows_of(frame, None)
    if call.name == "dropna" and made.columns is not None:
        gaps = [
            facts.has_nan(c) for k, c in (frame.columns or {}).items() if not names or k in names
        ]
        if call.arg(0, "axis") is None:
            for name, column in made.columns.items():
                if not names or name in names:
                    column.nan = False
            if gaps and set(gaps) == {False}:
                made = copied(frame)
        else:
            return Frame(None, False, frame.rows)
    return given(call, made)


def _sample(call: Call, frame: Frame) -> Value:
    count = call.integer(0, "n")
    replaced = call.flag(2, "replace")
    share = call.number(1, "frac")
    if (
        call.arg(0, "n") is not None
        and call.arg(1, "frac") is not None
        and share is not None
        and count is not None
    ):
        raise ViolationError("ValueError", "either a number or a share is sampled")
    is_larger = count is not None and frame.rows is not None and count > frame.rows
    if replaced is False and (is_larger or (share is not None and share > 1)):
        raise ViolationError("ValueError", "more rows are sampled than there are")
    if call.arg(0, "n") is None and call.arg(1, "frac") is None:
        count = 1
    return rows_of(frame, count)


def merge(call: Call) -> Value:
    """Joined with another table.

    Raises
    ------
    ViolationError
        If a key is in one of them not, or has another type in each.
    """
    values = [call.receiver, *call.args] if isinstance(call.receiver, Frame) else call.args
    left = values[0] if values else call.kwargs.get("left")
    right = values[1] if len(values) > 1 else call.kwargs.get("right")
    how = call.text(None if "how" in call.kwargs else 1, "how", default="inner")
    if not isinstance(left, Frame) or not isinstance(right, Frame):
        return Frame(None, False, None)
    on = call.arg(2 if isinstance(call.receiver, Frame) else 3, "on")
    left_on, right_on = (
        names_of(call.arg(None, "left_on") or on),
        names_of(call.arg(None, "right_on") or on),
    )
    uses_index = (
        call.arg(None, "left_index") is not None or call.arg(None, "right_index") is not None
    )
    check_columns(left, _without_index(left, left_on))
    check_columns(right, _without_index(right, right_on))
    if (
        left.columns is None
        or right.columns is None
        or not left.is_complete
        or not right.is_complete
    ):
        return Frame(None, False, None)
    if not left_on and not right_on and not uses_index and how != "cross":
        shared: list[Hashable] = [name for name in left.columns if name in right.columns]
        if not shared and on is None and call.is_complete and call.arg(None, "left_on") is None:
            raise ViolationError("MergeError", "tables have no column in common")
        left_on = right_on = shared
    for one, other in zip(left_on, right_on, strict=False):
        if one in left.columns and other in right.columns:
            _check_keys(left.columns[one], right.columns[other])
    if how == "cross":
        total = None if left.rows is None or right.rows is None else left.rows * right.rows
        memory.check(
            None if total is None else total * (len(left.columns) + len(right.columns)), "int64"
        )
    return _joined(call, left, right, left_on, right_on, how)


def _without_index(frame: Frame, names: list[Hashable]) -> list[Hashable]:
    if frame.labels is None:
        return []
    name = frame.labels.name
    known = name.data if isinstance(name, Known) else None
    return [each for each in names if each != known]


def _check_keys(left: Array, right: Array) -> None:
    kinds = {facts.kind(left), facts.kind(right)}
    if None in kinds or len(kinds) == 1:
        return
    is_text = [each.dtype == "str" or each.element_types == ("str",) for each in (left, right)]
    if (
        any(is_text)
        and not all(is_text)
        and (kinds - {"U", "O"}) <= set("iuf")
        and len(kinds - {"U", "O"}) == 1
    ):
        raise ViolationError("ValueError", f"keys are of {left.dtype} and {right.dtype}")
    if "M" in kinds and kinds & set("iuf"):
        raise ViolationError("ValueError", f"keys are of {left.dtype} and {right.dtype}")


def _joined(
    call: Call,
    left: Frame,
    right: Frame,
    left_on: list[Hashable],
    right_on: list[Hashable],
    how: str | None,
) -> Frame:
    suffixes = ("_x", "_y")
    try:
        suffixes = tuple(call.known(None, "suffixes", default=suffixes))
    except NotConcreteError:
        return Frame(None, False, None)
    assert left.columns is not None
    assert right.columns is not None
    shared = [name for name in left_on if name in right_on]
    columns: dict[Hashable, Array] = {}
    for name, column in left.columns.items():
        is_twice = name in right.columns and name not in shared
        columns[f"{name}{suffixes[0]}" if is_twice else name] = derived(
            column, (None,), keep=how == "left"
        )
    one_key = len(left_on) == len(right_on) == 1
    keys = (
        (left.columns.get(left_on[0]), right.columns.get(right_on[0])) if one_key else (None, None)
    )
    missing, rows = _gaps(keys[0], keys[1]) if how == "left" else (None, None)
    for name, column in right.columns.items():
        if name in shared:
            continue
        is_twice = name in left.columns
        made = derived(column, (rows,), keep=True)
        if how in ("left", "outer"):
            made.nan = True if missing or facts.has_nan(column) else None
            if made.nan and facts.kind(column) in ("i", "b"):
                made.dtype = "float64" if facts.kind(column) == "i" else "object"
            elif made.nan is None:
                made.dtype = None if facts.kind(column) in ("i", "b") else column.dtype
        columns[f"{name}{suffixes[1]}" if is_twice else name] = made
    for column in columns.values():
        column.shape = (rows,)
    return Frame(columns, True, rows, rows_index(rows))


def _gaps(left: Array | None, right: Array | None) -> tuple[bool | None, int | None]:
    """Whether a key of the left has no partner, and how many rows a left join has."""
    if left is None or right is None:
        return None, None
    ours, theirs = facts.values_of(left), facts.values_of(right)
    if ours is None or theirs is None:
        return None, None
    missing = not set(ours) <= set(theirs)
    unique = facts.repeats(right) is False
    return missing, left.length if unique else None


def pivot(call: Call) -> Value:
    """From long to wide.

    Raises
    ------
    ViolationError
        If a column is not there, or a cell would have two values.
    """
    values = call.args if isinstance(call.receiver, Frame) else call.args[1:]
    frame = call.receiver if isinstance(call.receiver, Frame) else call.first()
    if not isinstance(frame, Frame):
        return Unknown()
    order = (
        ("values", "index", "columns")
        if call.name == "pivot_table"
        else ("columns", "index", "values")
    )
    parts = {name: call.kwargs.get(name) for name in order}
    for name, value in zip(order, values, strict=False):
        parts[name] = value
    names = {name: names_of(value) for name, value in parts.items()}
    for each in names.values():
        check_columns(frame, each)
    index, columns = names["index"], names["columns"]
    known = frame.columns or {}
    rows = [known[name] for name in (*index, *columns) if name in known]
    if call.name == "pivot" and len(rows) == 2 and all(row.data is not None for row in rows):
        pairs = list(
            zip(*[row.data.tolist() for row in rows if row.data is not None], strict=False)
        )
        if len(set(pairs)) < len(pairs):
            raise ViolationError("ValueError", "a cell would have two values")
    if call.name == "pivot_table":
        _check_mean(call, frame, names["values"])
    return _wide(call, frame, index, columns, names["values"], isinstance(parts["values"], Known))


def _check_mean(call: Call, frame: Frame, values: list[Hashable]) -> None:
    function = call.text(None, "aggfunc", default="mean")
    for name in values:
        column = (frame.columns or {}).get(name)
        if (
            column is not None
            and column.dtype == "str"
            and function in ("mean", "std", "median", "var")
        ):
            raise ViolationError("TypeError", f"{function} of text in {name!r}")


def _wide(
    call: Call,
    frame: Frame,
    index: list[Hashable],
    columns: list[Hashable],
    values: list[Hashable],
    is_one: bool,
) -> Frame:
    known = frame.columns or {}
    if len(index) != 1 or len(columns) != 1 or len(values) != 1 or not is_one:
        return Frame(None, False, None)
    rows, names = known.get(index[0]), known.get(columns[0])
    if rows is None or names is None:
        return Frame(None, False, None)
    row_labels, labels = facts.values_of(rows), facts.values_of(names)
    if labels is None:
        return Frame(None, False, None if row_labels is None else len(row_labels))
    index_array = None if row_labels is None else of_data(np.array(row_labels), "index")
    if index_array is not None:
        index_array.name = lift(index[0])
    size = None if row_labels is None else len(row_labels)
    made: dict[Hashable, Array] = {}
    pairs = None
    if rows.data is not None and names.data is not None:
        pairs = set(zip(rows.data.tolist(), names.data.tolist(), strict=False))
    filled = call.arg(None, "fill_value") is not None
    for label in labels:
        column = Array("series", (size,), None, labels=index_array, name=lift(label))
        value = known.get(values[0])
        if pairs is not None and row_labels is not None:
            missing = np.array([(row, label) not in pairs for row in row_labels])
            column.nan = bool(missing.any()) and not filled
            if (
                value is not None
                and facts.kind(value) in ("i", "f")
                and missing.any()
                and not filled
            ):
                column.dtype = "float64"
                if facts.has_nan(value) is False:
                    column.data = np.where(missing, np.nan, 0.5)
                    column.data = None if not missing.any() else column.data
                column.low = column.high = None
        column.is_attained = False
        made[label] = column
    return Frame(made, True, size, index_array)


def aggregate(call: Call) -> Value:
    """Sums, means and other numbers of each column."""
    frame = table(call)
    numeric = call.flag(None, "numeric_only")
    name = call.name
    if numeric is False and name in (
        "mean",
        "median",
        "std",
        "var",
        "prod",
        "skew",
        "kurt",
        "sem",
        "corr",
        "cov",
        "quantile",
    ):
        for label, column in (frame.columns or {}).items():
            if column.dtype in ("str", "category") or column.element_types == ("str",):
                exception = "ValueError" if name in ("corr", "cov") else "TypeError"
                raise ViolationError(exception, f"{name} of {column.dtype} in {label!r}")
    if name in ("corr", "cov"):
        columns = frame.columns
        if columns is not None and frame.is_complete:
            kept = {
                k: Array("series", (None,), "float64")
                for k, c in columns.items()
                if not numeric or facts.is_number(c)
            }
            return Frame(
                kept,
                not numeric or all(facts.is_number(c) is not None for c in columns.values()),
                None,
            )
        return Frame(None, False, None)
    axis = call.arg(0, "axis")
    by_row = isinstance(axis, Known) and axis.data in (1, "columns")
    if by_row:
        texts = [c.dtype == "str" for c in (frame.columns or {}).values()]
        if (
            name == "sum"
            and any(texts)
            and not all(texts)
            and numeric is False
            and frame.is_complete
        ):
            raise ViolationError("TypeError", "text and numbers are summed")
        return Array("series", (frame.rows,), labels=frame.labels)
    count = (
        len(frame.columns)
        if frame.columns is not None and frame.is_complete and not numeric
        else None
    )
    made = Array("series", (count,))
    if count is not None and frame.columns and all(isinstance(key, str) for key in frame.columns):
        made.labels = of_data(np.array(list(frame.columns), dtype=object), "index", "str")
    return made


def astype(call: Call) -> Value:
    """Columns in other types."""
    frame = table(call)
    target = call.arg(0, "dtype")
    made = copied(frame)
    if isinstance(target, Mapping):
        check_columns(frame, list(target.items))
        for key, value in target.items.items():
            if made.columns is not None and key in made.columns:
                made.columns[key] = to_type(made.columns[key], named(value))
        return made
    dtype = named(target)
    if made.columns is not None:
        made.columns = {key: to_type(column, dtype) for key, column in made.columns.items()}
    return made


def fill(call: Call) -> Value:
    """Without gaps."""
    made = copied(table(call))
    value = call.arg(0, "value")
    for name, column in (made.columns or {}).items():
        if call.name != "fillna":
            column.nan = False if facts.has_nan(column) is False else None
            column.data = column.data if column.nan is False else None
        elif not isinstance(value, Mapping) or name in value.items:
            column.nan = False
            column.data = (
                column.data if facts.has_nan((table(call).columns or {})[name]) is False else None
            )
    return given(call, made)


def apply(call: Call) -> Value:
    """A function of each column or row."""
    frame = table(call)
    function = call.arg(0, "func")
    axis = call.arg(1, "axis")
    by_row = isinstance(axis, Known) and axis.data in (1, "columns")
    if (
        isinstance(function, Function)
        and frame.columns
        and frame.is_complete
        and call.name == "apply"
    ):
        if by_row and frame.rows != 0:
            row = Mapping({k: _cell(c) for k, c in frame.columns.items()}, True, "row")
            call.state.call(function, [row])
        elif not by_row:
            for column in frame.columns.values():
                call.state.call(function, [column])
    if by_row:
        return Array("series", (frame.rows,), labels=frame.labels)
    return Unknown()


def _cell(column: Array) -> Value:
    if column.dtype in ("str", "object", "category", None):
        return (
            Array("python", (), "str")
            if column.dtype == "str" and facts.has_nan(column) is False
            else Unknown()
        )
    made = derived(column, (), keep=True)
    made.home = "numpy"
    return made


def melt(call: Call) -> Value:
    """From wide to long."""
    frame = table(call)
    ids, values = names_of(call.arg(0, "id_vars")), names_of(call.arg(1, "value_vars"))
    check_columns(frame, [*ids, *values])
    variable = call.text(2, "var_name", default="variable") or "variable"
    value = call.text(3, "value_name", default="value") or "value"
    names = [*ids, variable, value]
    return Frame({name: Array("series", (None,)) for name in names}, True, None)


def to_numpy(call: Call) -> Value:
    """The values as an array."""
    made = of_frame(table(call))
    dtype = named(call.kwargs.get("dtype"))
    return made if dtype is None else cast(made, dtype)


def join(call: Call) -> Value:
    """Joined by the index."""
    frame, other = table(call), call.first()
    if not isinstance(other, Frame) or frame.columns is None or other.columns is None:
        return Frame(None, False, None)
    shared = set(frame.columns) & set(other.columns)
    named_apart = call.arg(None, "lsuffix") is not None or call.arg(None, "rsuffix") is not None
    if shared and not named_apart and call.is_complete:
        raise ViolationError("ValueError", f"columns overlap: {sorted(map(str, shared))}")
    check_columns(frame, names_of(call.arg(1, "on")))
    columns = {k: derived(c, (None,)) for k, c in {**frame.columns, **other.columns}.items()}
    return Frame(columns, not shared and frame.is_complete and other.is_complete, None)


def insert(call: Call) -> Value:
    """With a further column, in place."""
    frame = table(call)
    name = names_of(call.arg(1, "column"))
    if frame.columns is not None and name and not call.flag(None, "allow_duplicates"):
        if name[0] in frame.columns:
            raise ViolationError("ValueError", f"cannot insert {name[0]!r}, already exists")
        frame.columns[name[0]] = as_column(call.arg(2, "value") or Unknown(), frame.rows)
    else:
        frame.is_complete = False
    return Known(None)


def pop(call: Call) -> Value:
    """Take a column out."""
    frame = table(call)
    names = names_of(call.first())
    check_columns(frame, names)
    if frame.columns is not None and names and names[0] in frame.columns:
        return frame.columns.pop(names[0])
    return Unknown()


def reindex(call: Call) -> Value:
    """With the columns or rows that are named."""
    frame = table(call)
    columns = call.arg(None, "columns")
    if columns is None:
        if frame.labels is not None and facts.repeats(frame.labels):
            raise ViolationError("ValueError", "an index with repeated labels cannot be reindexed")
        return Frame(
            None if frame.columns is None else {k: Array("series", (None,)) for k in frame.columns},
            frame.is_complete,
            None,
        )
    items = iteration.elements(columns)
    if items is None:
        return Frame(None, False, frame.rows, frame.labels)
    try:
        names = [concrete(item) for item in items]
    except NotConcreteError:
        return Frame(None, False, frame.rows, frame.labels)
    made = {}
    for name in names:
        old = (frame.columns or {}).get(name)
        made[name] = old or Array(
            "series",
            (frame.rows,),
            nan=True
            if call.arg(None, "fill_value") is None
            and frame.columns is not None
            and frame.is_complete
            else None,
        )
    return Frame(made, True, frame.rows, frame.labels)


def unchanged(call: Call) -> Value:
    """The same rows and columns."""
    return copied(table(call))


def isna(call: Call) -> Value:
    """Where there are gaps."""
    frame = table(call)
    columns = (
        None
        if frame.columns is None
        else {k: Array("series", (frame.rows,), "bool") for k in frame.columns}
    )
    return Frame(columns, frame.is_complete, frame.rows, frame.labels)


def resample(call: Call) -> Value:
    """Groups of time.

    Raises
    ------
    ViolationError
        If the index has no dates, or the frequency is none.
    """
    owner = call.receiver
    labels = owner.labels if isinstance(owner, (Frame, Array)) else None
    on = names_of(call.arg(None, "on"))
    if isinstance(owner, Frame):
        check_columns(owner, on)
        if on and owner.columns is not None and on[0] in owner.columns:
            labels = owner.columns[on[0]]
    is_known = labels is not None and labels.dtype is not None
    if is_date_index(labels):
        check_frequency(call.text(0, "rule"))
    if (
        is_known
        and not is_date_index(labels)
        and (labels is None or facts.kind(labels) in ("i", "f", "U"))
    ):
        raise ViolationError("TypeError", "only dates are resampled")
    return Thing("pandas.core.resample.DatetimeIndexResampler", {"of": owner})


def _located(value: Value, name: str, _state: State) -> Value:
    return Thing(f"pandas.{name}", {"of": value})


def _columns(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Frame)
    if value.columns is None or not value.is_complete:
        return Array("index", (None,))
    keys = list(value.columns)
    made = of_data(
        np.array(keys, dtype=object if not all(type(k) is int for k in keys) else "int64"), "index"
    )
    if keys and all(isinstance(key, str) for key in keys):
        made.dtype = "str"
    return made


def _shape(value: Value, name: str, _state: State) -> Value:
    assert isinstance(value, Frame)
    width = len(value.columns) if value.columns is not None and value.is_complete else None
    sizes = [value.rows, width]
    items: list[Value] = [
        Array("python", (), "int64", low=0) if s is None else Known(s) for s in sizes
    ]
    if name == "shape":
        return Sequence("tuple", items)
    if name == "ndim":
        return Known(2)
    return Unknown() if None in sizes else Known((value.rows or 0) * (width or 0))


def _index(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, (Frame, Array))
    rows = value.rows if isinstance(value, Frame) else value.length
    labels = value.labels
    if labels is None or labels.length is None:
        return labels or Array("index", (rows,))
    return labels


def _values(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Frame)
    return of_frame(value)


def _turned(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Frame)
    rows = len(value.columns) if value.columns is not None and value.is_complete else None
    return Frame(None, False, rows)


def _set_columns(owner: Value, value: Value, _state: State) -> None:
    assert isinstance(owner, Frame)
    items = iteration.elements(value)
    size = len(items) if items is not None else iteration.length(value)
    if any(isinstance(item, Sequence) for item in items or []):
        owner.columns, owner.is_complete = None, False
        return
    if (
        owner.columns is not None
        and owner.is_complete
        and size is not None
        and size != len(owner.columns)
    ):
        raise ViolationError(
            "ValueError", f"{size} names are given for {len(owner.columns)} columns"
        )
    try:
        names = [concrete(item) for item in items or []]
    except NotConcreteError:
        names = []
    if items is None or owner.columns is None or len(names) != len(owner.columns):
        owner.columns, owner.is_complete = None, False
        return
    owner.columns = dict(zip(names, owner.columns.values(), strict=False))


def _set_index(owner: Value, value: Value, _state: State) -> None:
    assert isinstance(owner, (Frame, Array))
    rows = owner.rows if isinstance(owner, Frame) else owner.length
    size = iteration.length(value)
    if rows is not None and size is not None and size != rows:
        raise ViolationError("ValueError", f"{size} labels are given for {rows} rows")
    column = as_column(value, rows)
    column.home = "index"
    owner.labels = column


AGGREGATES: Final = (
    "mean", "sum", "median", "std", "var", "min", "max", "prod", "skew", "kurt", "sem", "count",
    "nunique", "any", "all", "corr", "cov", "quantile", "idxmax", "idxmin",
)  # fmt: skip

METHODS: Final[dict[str, Handler]] = {
    "drop": drop,
    "rename": rename,
    "assign": assign,
    "set_index": set_index,
    "reset_index": reset_index,
    **dict.fromkeys(("sort_values", "nlargest", "nsmallest", "explode"), by_column),
    **dict.fromkeys(("head", "tail", "sample", "dropna", "drop_duplicates"), part),
    "merge": merge,
    **dict.fromkeys(("pivot", "pivot_table"), pivot),
    **dict.fromkeys(AGGREGATES, aggregate),
    "astype": astype,
    **dict.fromkeys(("fillna", "ffill", "bfill", "interpolate"), fill),
    **dict.fromkeys(("apply", "map", "transform", "agg"), apply),
    "melt": melt,
    "to_numpy": to_numpy,
    "join": join,
    "insert": insert,
    "pop": pop,
    "reindex": reindex,
    **dict.fromkeys(
        ("copy", "sort_index", "round", "abs", "infer_objects", "convert_dtypes"), unchanged
    ),
    **dict.fromkeys(("isna", "isnull", "notna", "notnull", "isin"), isna),
    "resample": resample,
}

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"pandas.DataFrame.{name}": rule for name, rule in METHODS.items()},
    "pandas.merge": merge,
    "pandas.pivot_table": pivot,
    "pandas.pivot": pivot,
    "pandas.Series.resample": resample,
}

PROPERTIES: Final[dict[str, Property]] = {
    **{
        f"{path}.{name}": _located
        for path in ("pandas.DataFrame", "pandas.Series")
        for name in ("loc", "iloc", "at", "iat")
    },
    **{f"pandas.DataFrame.{name}": _shape for name in ("shape", "ndim", "size")},
    "pandas.DataFrame.columns": _columns,
    "pandas.DataFrame.index": _index,
    "pandas.Series.index": _index,
    "pandas.DataFrame.values": _values,
    "pandas.DataFrame.T": _turned,
}

WRITERS: Final[dict[str, Writer]] = {
    "pandas.DataFrame.columns": _set_columns,
    "pandas.DataFrame.index": _set_index,
    "pandas.Series.index": _set_index,
}
