"""Methods of tables of pandas that add, take and change columns."""

from __future__ import annotations

from failbench.crashes.rules.arrays.casting import cast, of_frame
from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.frames.conversion import to_type
from failbench.crashes.rules.frames.labels import check_columns, names_of
from failbench.crashes.rules.frames.storage import as_column
from failbench.crashes.rules.frames.tables import copied, given, table
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Function,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


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


def to_numpy(call: Call) -> Value:
    """The values as an array."""
    made = of_frame(table(call))
    dtype = named(call.kwargs.get("dtype"))
    return made if dtype is None else cast(made, dtype)


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


def isna(call: Call) -> Value:
    """Where there are gaps."""
    frame = table(call)
    columns = (
        None
        if frame.columns is None
        else {k: Array("series", (frame.rows,), "bool") for k in frame.columns}
    )
    return Frame(columns, frame.is_complete, frame.rows, frame.labels)
