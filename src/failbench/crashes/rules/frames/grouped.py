"""Groups of tables and series."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.frames.labels import check_columns, names_of
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import lift, of_data
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Known,
    Mapping,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError

TABLE: Final = "pandas.core.groupby.DataFrameGroupBy"
COLUMN: Final = "pandas.core.groupby.SeriesGroupBy"


def group(call: Call) -> Value:
    """Groups by columns.

    Raises
    ------
    ViolationError
        If a column is not there.
    """
    owner = call.receiver
    by = call.arg(0, "by")
    names = names_of(by)
    if isinstance(owner, Frame):
        index_name = owner.labels.name if owner.labels is not None else None
        known = index_name.data if isinstance(index_name, Known) else None
        if isinstance(index_name, (Known, type(None))) and owner.labels is not None:
            check_columns(
                owner,
                [n for n in names if n != known and not (isinstance(known, tuple) and n in known)],
            )
        if by is None and call.arg(None, "level") is None and call.is_complete:
            raise ViolationError("TypeError", "groups need to be told by what")
        is_flat = isinstance(by, Known)
        is_named = is_flat or (isinstance(by, Sequence) and len(names) == by.size)
        return Thing(
            TABLE,
            {
                "frame": owner,
                "keys": names,
                "flat": is_flat,
                "named": is_named,
                "as_index": call.flag(None, "as_index", default=True),
            },
        )
    return Thing(COLUMN, {"series": owner, "keys": []})


def labels_of(_call: Call, frame: Frame, keys: list[Hashable]) -> Array | None:
    """The index that groups have: the values of their one key."""
    if len(keys) != 1 or frame.columns is None or keys[0] not in frame.columns:
        if len(keys) > 1:
            return Array("index", (None,), name=Known(tuple(keys)))
        return None
    column = frame.columns[keys[0]]
    known = facts.values_of(column)
    if known is None:
        return Array(
            "index", (facts.distinct(column),), column.dtype, name=lift(keys[0]), is_unique=True
        )
    data = np.array(known, dtype=object if column.dtype in ("str", "object", "category") else None)
    made = of_data(data, "index", column.dtype if column.dtype == "str" else None)
    made.name = lift(keys[0])
    return made


def aggregate(call: Call) -> Value:
    """A number of each group.

    Raises
    ------
    ViolationError
        If a column has no such number.
    """
    groups = call.receiver
    assert isinstance(groups, Thing)
    frame, keys = groups.facts.get("frame"), groups.facts.get("keys") or []
    if not isinstance(frame, Frame):
        return Array("series")
    labels = labels_of(call, frame, keys)
    rows = None if labels is None else labels.length
    name = call.name
    numeric = call.flag(None, "numeric_only")
    if name == "size":
        made = Array("series", (rows,), "int64", labels=labels, low=1, name=Known(None))
        return made if groups.facts.get("as_index", True) else Frame(None, False, rows)
    if groups.path == COLUMN:
        column = (frame.columns or {}).get(groups.facts.get("column"))
        _check(name, column, groups.facts.get("column"))
        made = Array("series", (rows,), labels=labels, name=lift(groups.facts.get("column")))
        if column is not None:
            if name in ("mean", "std", "var", "median"):
                made.dtype = (
                    column.dtype
                    if facts.kind(column) == "f"
                    else "float64"
                    if facts.kind(column) == "i"
                    else None
                )
            elif name in ("count", "nunique"):
                made.dtype = "int64"
            else:
                made.dtype = column.dtype
            if name in ("mean", "median", "min", "max") and facts.has_nan(column) is False:
                made.nan = False
                made.low, made.high, _ = facts.bounds(column)
        return made if groups.facts.get("as_index", True) else Frame(None, False, rows)
    if frame.columns is None or not frame.is_complete:
        return Frame(None, False, rows, labels)
    rest = {key: column for key, column in frame.columns.items() if key not in keys}
    if not numeric and groups.facts.get("named"):
        for label, column in rest.items():
            _check(name, column, label)
    kept = {k: derived(c, (rows,)) for k, c in rest.items() if not numeric or facts.is_number(c)}
    for column in kept.values():
        column.dtype = None if name not in ("first", "last", "min", "max", "sum") else column.dtype
        column.labels = labels
    if not groups.facts.get("as_index", True):
        kept = {
            **{key: derived(frame.columns[key], (rows,)) for key in keys if key in frame.columns},
            **kept,
        }
    return Frame(kept, True, rows, labels)


def _check(name: str, column: Array | None, label: Hashable) -> None:
    if column is None or name not in ("mean", "std", "var", "median", "sem", "prod", "quantile"):
        return
    if column.dtype in ("str", "category") or column.element_types == ("str",):
        raise ViolationError("TypeError", f"{name} of {column.dtype} in {label!r}")


def chosen(call: Call) -> Value:
    """Several numbers of each group."""
    groups = call.receiver
    assert isinstance(groups, Thing)
    frame = groups.facts.get("frame")
    functions = call.arg(0, "func")
    if isinstance(frame, Frame) and isinstance(functions, Mapping) and groups.path == TABLE:
        check_columns(frame, list(functions.items))
    if isinstance(frame, Frame) and functions is None:
        names = []
        for value in call.kwargs.values():
            if isinstance(value, Sequence) and value.items:
                names += names_of(value.items[0])
        check_columns(frame, names)
        keys = groups.facts.get("keys") or []
        labels = labels_of(call, frame, keys)
        rows = None if labels is None else labels.length
        made = {name: Array("series", (rows,), labels=labels) for name in call.kwargs}
        return Frame(dict(made.items()), bool(groups.facts.get("as_index", True)), rows, labels)
    if isinstance(functions, Known) and isinstance(functions.data, str):
        return aggregate(Call(call.state, f"{groups.path}.{functions.data}", [], {}, True, groups))
    return Frame(None, False, None) if groups.path == TABLE else Unknown()


def taken(call: Call) -> Value:
    """One group.

    Raises
    ------
    ViolationError
        If there is no group of that name.
    """
    groups = call.receiver
    assert isinstance(groups, Thing)
    frame, keys = groups.facts.get("frame"), groups.facts.get("keys") or []
    if isinstance(frame, Frame) and len(keys) == 1 and groups.facts.get("flat"):
        column = (frame.columns or {}).get(keys[0])
        known = None if column is None else facts.values_of(column)
        name = call.first()
        if known is not None and isinstance(name, Known) and name.data not in known:
            raise ViolationError("KeyError", f"{name.data!r} is none of the groups {known[:8]}")
    return Unknown()


def spread(call: Call) -> Value:
    """A value for each row."""
    groups = call.receiver
    assert isinstance(groups, Thing)
    frame = groups.facts.get("frame")
    if isinstance(frame, Frame) and groups.path == COLUMN:
        return Array("series", (frame.rows,), labels=frame.labels)
    return Unknown()


AGGREGATES: Final = (
    "mean", "sum", "median", "std", "var", "min", "max", "count", "size", "first", "last",
    "nunique", "prod", "sem", "quantile",
)  # fmt: skip

FUNCTIONS: Final[dict[str, Handler]] = {
    "pandas.DataFrame.groupby": group,
    "pandas.Series.groupby": group,
    **{f"{path}.{name}": aggregate for path in (TABLE, COLUMN) for name in AGGREGATES},
    **{f"{path}.{name}": chosen for path in (TABLE, COLUMN) for name in ("agg", "aggregate")},
    **{
        f"{path}.{name}": spread
        for path in (TABLE, COLUMN)
        for name in ("transform", "cumsum", "rank", "shift", "cumcount", "diff")
    },
    f"{TABLE}.get_group": taken,
    f"{COLUMN}.get_group": taken,
}
