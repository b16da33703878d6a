"""Aggregates of columns and periods of tables of pandas."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.frames.indexes import check_frequency
from failbench.crashes.rules.frames.labels import check_columns, is_date_index, names_of
from failbench.crashes.rules.frames.tables import table
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import of_data
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Thing, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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


AGGREGATES: Final = (
    "mean", "sum", "median", "std", "var", "min", "max", "prod", "skew", "kurt", "sem", "count",
    "nunique", "any", "all", "corr", "cov", "quantile", "idxmax", "idxmin",
)  # fmt: skip
