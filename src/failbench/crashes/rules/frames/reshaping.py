"""Long and wide tables of pandas."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from failbench.crashes.rules.frames.labels import check_columns, names_of
from failbench.crashes.rules.frames.tables import table
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import lift, of_data
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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


def melt(call: Call) -> Value:
    """From wide to long."""
    frame = table(call)
    ids, values = names_of(call.arg(0, "id_vars")), names_of(call.arg(1, "value_vars"))
    check_columns(frame, [*ids, *values])
    variable = call.text(2, "var_name", default="variable") or "variable"
    value = call.text(3, "value_name", default="value") or "value"
    names = [*ids, variable, value]
    return Frame({name: Array("series", (None,)) for name in names}, True, None)
