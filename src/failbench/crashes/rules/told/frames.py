"""Tables that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.values import Array, Frame, Value
from failbench.crashes.rules.told.arrays import array_told, index_told
from failbench.crashes.rules.told.entries import Entry, facts_of


def _frame(known: Value, entry: Entry) -> Value:
    structural, types = facts_of(entry, "structural"), facts_of(entry, "type")
    base = known if isinstance(known, Frame) else Frame(None, False)
    shape = structural.get("shape") or [base.rows, None]
    rows = shape[0]
    names = structural.get("columns")
    dtypes = types.get("dtypes") or {}
    values = facts_of(entry, "value").get("by_column") or {}
    columns: dict[Any, Array] | None = None
    is_complete = base.is_complete
    if names is not None:
        labels = [tuple(name) if isinstance(name, list) else name for name in names]
        columns = {name: (base.columns or {}).get(name) or Array("series") for name in labels}
        is_complete = shape[1] is None or len(labels) == shape[1]
    elif base.columns is not None:
        columns = dict(base.columns)
    elif dtypes or values:
        columns, is_complete = {name: Array("series") for name in {**dtypes, **values}}, False
    labels_of = index_told(base.labels, entry, rows) if structural or types else base.labels
    for name, column in (columns or {}).items():
        part: Entry = {"structural": {"length": rows} if rows is not None else {}}
        if str(name) in dtypes:
            part["type"] = {"kind": "series", "dtype": dtypes[str(name)]}
        if str(name) in values:
            part["value"] = values[str(name)]
        column.home = "series"
        made = array_told(column, part)
        if columns is not None and isinstance(made, Array):
            made.labels, made.name = labels_of, lift(name)
            columns[name] = made
    return Frame(columns, is_complete, rows, labels_of)


READERS: Final[dict[str, Callable[[Value, Entry], Value]]] = {
    "frame": _frame,
}
