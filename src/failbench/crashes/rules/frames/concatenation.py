"""Tables and series of pandas, one after the other."""

from __future__ import annotations

from collections.abc import Hashable

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.frames.indexes import rows_index
from failbench.crashes.rules.knowledge import facts
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


def concat(call: Call) -> Value:
    """Tables one after another, or beside one another."""
    value = call.arg(0, "objs")
    if isinstance(value, (Frame, Array)) and value is not None:
        raise ViolationError("TypeError", "a list of tables is put together, not a table")
    items = iteration.elements(value or Unknown())
    if items is None:
        return Unknown()
    kept = [e for e in items if not (isinstance(e, Known) and e.data is None)]
    if not kept:
        raise ViolationError("ValueError", "there is nothing to put together")
    for each in kept:
        if isinstance(each, (Sequence, Mapping, Known)) or (
            isinstance(each, Array) and each.home not in ("series", "python")
        ):
            raise ViolationError("TypeError", "only tables and series are put together")
    axis = call.known(1, "axis", default=0)
    frames = [each for each in kept if isinstance(each, Frame)]
    if len(frames) < len(kept):
        arrays = [each for each in kept if isinstance(each, Array)]
        if len(arrays) == len(kept) and axis in (0, "index"):
            sizes = [each.length for each in arrays]
            total = None if None in sizes else sum(each or 0 for each in sizes)
            return Array("series", (total,), arrays[0].dtype)
        return Unknown()
    if any(each.columns is None or not each.is_complete for each in frames):
        return Frame(None, False, None)
    columns: dict[Hashable, Array] = {}
    sizes = [each.rows for each in frames]
    if axis in (1, "columns"):
        for each in frames:
            columns |= {k: derived(c, c.shape) for k, c in (each.columns or {}).items()}
        rows = sizes[0] if len(set(sizes)) == 1 else None
        return Frame(columns, True, rows, frames[0].labels if rows is not None else None)
    rows = None if None in sizes else sum(each or 0 for each in sizes)
    names: dict[Hashable, None] = {}
    for each in frames:
        names |= dict.fromkeys(each.columns or {})
    for name in names:
        parts = [(each.columns or {}).get(name) for each in frames]
        made = Array("series", (rows,))
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            made.dtype = known[0].dtype if len({part.dtype for part in known}) == 1 else None
            gaps = [facts.has_nan(part) for part in known]
            made.nan = True if True in gaps else False if set(gaps) == {False} else None
        elif any(e.rows for e, part in zip(frames, parts, strict=False) if part is None):
            made.nan = True
            made.dtype = "float64" if facts.kind(known[0]) in ("i", "f") else known[0].dtype
        columns[name] = made
    labels = rows_index(rows) if call.flag(None, "ignore_index") else None
    return Frame(columns, True, rows, labels)
