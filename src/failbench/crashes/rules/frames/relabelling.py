"""Methods of tables of pandas that change labels."""

from __future__ import annotations

from collections.abc import Hashable

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.frames.indexes import rows_index
from failbench.crashes.rules.frames.labels import check_columns, labels_known, names_of
from failbench.crashes.rules.frames.rows import part_of, rows_of
from failbench.crashes.rules.frames.tables import copied, given, table
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, lift
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Function,
    Known,
    Mapping,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


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
