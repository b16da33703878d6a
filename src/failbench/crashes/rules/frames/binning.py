"""Intervals and indicators made of columns of pandas."""

from __future__ import annotations

import numpy as np

from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.frames.labels import names_of
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def cut(call: Call) -> Value:
    """Values in bins.

    Raises
    ------
    ViolationError
        If bins do not rise, or there are other numbers of names than of bins.
    """
    column = operands.as_array(call.first()) if call.args else None
    try:
        bins = call.known(1, "bins", "q")
    except NotConcreteError:
        bins = None
    labels = call.arg(None, "labels") or (
        call.args[3] if call.name == "cut" and len(call.args) > 3 else None
    )
    edges = None
    if (
        isinstance(bins, (list, tuple, np.ndarray))
        and len(bins)
        and all(isinstance(e, (int, float, np.number)) for e in bins)
    ):
        edges = np.asarray(bins, dtype=float)
        if call.name == "cut" and bool((np.diff(edges) < 0).any()):
            raise ViolationError("ValueError", "bins must increase")
        if (
            call.name == "cut"
            and bool((np.diff(edges) == 0).any())
            and call.text(None, "duplicates") != "drop"
        ):
            raise ViolationError("ValueError", "edges of bins must be unique")
        if call.name == "qcut" and (edges.min() < 0 or edges.max() > 1):
            raise ViolationError("ValueError", "quantiles are between 0 and 1")
    count = len(edges) - 1 if edges is not None else bins if isinstance(bins, int) else None
    size = iteration.length(labels) if labels is not None else None
    if (
        count is not None
        and size is not None
        and size != count
        and call.text(None, "duplicates") != "drop"
    ):
        raise ViolationError("ValueError", f"{size} names are given for {count} bins")
    if column is not None and column.dtype == "str":
        raise ViolationError("TypeError", "text has no bins")
    is_code = isinstance(labels, Known) and labels.data is False
    home = "series" if column is not None and column.home == "series" else "numpy"
    made = Array(home, None if column is None else column.shape, None if is_code else "category")
    made.labels = None if column is None else column.labels
    if column is not None and edges is not None and call.name == "cut":
        low, high, is_attained = facts.bounds(column)
        closed = call.flag(None, "right", default=True)
        lowest = call.flag(None, "include_lowest")
        if low is not None and high is not None and closed is not None:
            outside = (
                (low <= edges[0] and closed and not lowest) or high > edges[-1] or low < edges[0]
            )
            if is_attained and outside:
                made.nan = True
            elif not outside and facts.has_nan(column) is False:
                made.nan = False
    if is_code:
        made.dtype = (
            {True: "float64", False: "int64"}.get(made.nan) if made.nan is not None else None
        )
    return made


def dummies(call: Call) -> Value:
    """Indicators of categories."""
    value = call.first()
    if isinstance(value, Frame):
        from_columns = call.arg(None, "columns")
        if value.columns is not None and value.is_complete:
            for name in names_of(from_columns):
                if name not in value.columns:
                    raise ViolationError("KeyError", f"{name!r} is none of the columns")
        return Frame(None, False, value.rows, value.labels)
    column = operands.as_array(value)
    if column is None:
        return Frame(None, False, None)
    count = facts.distinct(column)
    dtype = named(call.kwargs.get("dtype")) or "bool"
    if column.length is not None and count is not None:
        memory.check(column.length * count, dtype)
    values = facts.values_of(column)
    if values is None and column.categories is None:
        return Frame(None, False, column.length, column.labels, count)
    names = column.categories or values or ()
    prefix = call.text(None, "prefix", default="")
    made = {
        f"{prefix}_{n}" if prefix else n: Array(
            "series", (column.length,), dtype, nan=False, inf=False
        )
        for n in names
    }
    return Frame(made, prefix is not None, column.length, column.labels)
