"""Functions of numpy of each element."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.arrays.folds import first_array
from failbench.crashes.rules.evaluation import computed
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

FLOATING: Final = (
    "sqrt", "log", "log2", "log10", "log1p", "exp", "expm1", "exp2", "sin", "cos", "tan", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "cbrt", "deg2rad", "rad2deg", "radians", "degrees",
)  # fmt: skip
SAME: Final = ("abs", "absolute", "fabs", "negative", "sign", "floor", "ceil", "rint", "square",
    "nan_to_num", "round", "around", "trunc", "conj", "real", "positive")  # fmt: skip
TESTS: Final = ("isnan", "isfinite", "isinf", "signbit", "logical_not")


def unary(call: Call) -> Value:
    """A function of each element."""
    value = call.first()
    array = first_array(call)
    if array is None:
        if isinstance(value, Known) and value.data is None:
            raise ViolationError("TypeError", f"{call.name} is of numbers")
        return Unknown()
    kind = facts.kind(array)
    if array.dtype == "str":
        exception = (
            "TypeError"
            if call.name in TESTS or array.home in ("series", "index")
            else "UFuncTypeError"
        )
        raise ViolationError(exception, f"{call.name} is of numbers, not of text")
    if (
        kind == "O"
        and call.name in (*TESTS, *FLOATING)
        and (array.element_types in (("str",),) or call.name in TESTS)
    ):
        raise ViolationError("TypeError", f"{call.name} is not there for objects")
    if kind == "b" and call.name in ("negative", "positive"):
        raise ViolationError(
            "UFuncTypeError" if array.home == "numpy" else "TypeError", "a minus of truth values"
        )
    dtype = "bool" if call.name in TESTS else None
    if call.name in FLOATING:
        dtype = "float32" if array.dtype == "float32" else "float64"
    if isinstance(value, Frame):
        columns = {k: derived(c, c.shape, dtype) for k, c in (value.columns or {}).items()}
        return Frame(
            columns if value.columns is not None else None,
            value.is_complete,
            value.rows,
            value.labels,
        )
    made = derived(array, array.shape, dtype)
    made.labels = array.labels
    if (
        array.data is not None
        and array.data.dtype.kind in "biufc"
        and not call.kwargs
        and len(call.args) < 3
    ):
        try:
            rest = [concrete(each) for each in call.args[1:]]
            result = computed.folded(getattr(np, call.name), array.data, *rest)
        except (NotConcreteError, ViolationError):
            return made
        if isinstance(result, Array):
            made.data, made.dtype = result.data, result.dtype
            return made
        return of_data(np.asarray(result.data)) if isinstance(result, Known) else made
    _bounded(call.name, array, made)
    return made


def _bounded(name: str, array: Array, made: Array) -> None:
    low, high, is_attained = facts.bounds(array)
    nan = facts.has_nan(array)
    made.nan = nan if name in SAME or nan else None
    if name == "nan_to_num":
        made.nan, made.inf = False, False
        return
    monotone = {
        "sqrt",
        "log",
        "log2",
        "log10",
        "log1p",
        "exp",
        "floor",
        "ceil",
        "round",
        "rint",
        "around",
    }
    if low is None or high is None or name not in monotone:
        return
    function: Any = getattr(np, name)
    with np.errstate(all="ignore"):
        ends = float(function(low)), float(function(high))
    if is_attained and any(math.isnan(end) for end in ends):
        made.nan = True
    if (
        is_attained
        and any(math.isinf(end) for end in ends)
        and all(math.isfinite(e) for e in (low, high))
    ):
        made.inf = True
    if not any(math.isnan(end) for end in ends):
        made.low, made.high, made.is_attained = *ends, is_attained
        if nan is False:
            made.nan = False
