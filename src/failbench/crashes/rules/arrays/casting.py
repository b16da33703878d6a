"""Arrays in another type, and the arrays of tables."""

from __future__ import annotations

import warnings

import numpy as np

from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.values import FOLDED, Array, Frame, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def converted(value: Array, dtype: str | None, is_asked: bool) -> Value:
    """An array as numpy makes one of it, if it can."""
    if value.home == "torch":
        if value.needs_grad:
            raise ViolationError("RuntimeError", "a tensor that requires a gradient is no array")
        if value.device == "meta":
            raise ViolationError("TypeError", "a tensor without data is no array")
    made = derived(value, value.shape, None, keep=True)
    made.home, made.needs_grad, made.graph = "numpy", False, ()
    made.uniques, made.distinct, made.is_attained = value.uniques, value.distinct, value.is_attained
    made.nan, made.inf, made.data = value.nan, value.inf, value.data
    if value.dtype == "category":
        made.dtype = "object"
    if dtype is not None and dtype != made.dtype:
        return cast(made, dtype)
    if is_asked and dtype is None:
        made.dtype = None
    return made


def cast(value: Array, dtype: str | None) -> Array:
    """An array in another type.

    Raises
    ------
    ViolationError
        If text is no number, or NaN no whole number of numpy's objects.
    """
    made = derived(value, value.shape, dtype, keep=True)
    made.dtype = dtype
    made.labels, made.name = value.labels, value.name
    if dtype is None:
        made.low = made.high = made.nan = None
        return made
    target = facts.kind(Array("numpy", (), dtype))
    if (
        value.data is not None
        and target in ("b", "i", "u", "f", "U")
        and value.data.dtype.kind != "V"
    ):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                made.data = value.data.astype(dtype)
            except (ValueError, TypeError) as error:
                raise ViolationError(type(error).__name__, str(error)) from error
    elif target in ("i", "u", "f") and facts.kind(value) in ("U", "O"):
        for each in facts.seen(value):
            if isinstance(each, str) and not each.endswith("…"):
                try:
                    float(each) if target == "f" else int(each)
                except ValueError as error:
                    raise ViolationError("ValueError", str(error)) from error
    if target in ("i", "u") and made.low is not None and made.high is not None:
        made.low, made.high = float(int(made.low)), float(int(made.high))
        made.is_attained = value.is_attained
        made.nan = False
    elif facts.kind(value) in ("i", "u", "b", "f") and target == "f":
        made.uniques, made.distinct = value.uniques, value.distinct
        made.is_attained, made.nan, made.inf = value.is_attained, value.nan, value.inf
    return made


def of_frame(frame: Frame) -> Array:
    """The values of a table."""
    columns = list((frame.columns or {}).values())
    is_known = frame.columns is not None and frame.is_complete
    made = Array("numpy", (frame.rows, len(columns) if is_known else frame.width), None)
    if not is_known:
        return made
    dtype = columns[0].dtype if columns else "object"
    for column in columns[1:]:
        if dtype != column.dtype:
            kinds = {facts.kind(each) for each in columns}
            dtype = None if None in kinds else "float64" if kinds <= set("iuf") else "object"
    made.dtype = "object" if dtype in ("str", "category") else dtype
    known = [facts.has_nan(column) for column in columns]
    made.nan = True if True in known else False if set(known) == {False} else None
    made.inf = True if True in [facts.has_inf(each) for each in columns] else None
    if (
        made.dtype in ("float64", "int64", "bool")
        and frame.rows
        and columns
        and all(each.data is not None for each in columns)
        and frame.rows * len(columns) <= FOLDED
    ):
        made.data = np.column_stack([np.asarray(each.data) for each in columns]).astype(made.dtype)
    return made
