"""Properties of tables of pandas, read and set."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.arrays.casting import of_frame
from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Property, Writer
from failbench.crashes.rules.frames.storage import as_column
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.state import State
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
