"""Arrays that are reduced along axes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from failbench.crashes.rules.evaluation import computed
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError
from failbench.crashes.rules.knowledge.shapes import derived, of_graph, reduced
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

WHOLE: Final = ("argmax", "argmin", "count_nonzero")


def axes_argument(call: Call, place: int | None) -> Any:
    """The axes that a call names: None for all.

    Raises
    ------
    NotConcreteError
        If they are not known.
    """
    axis = call.known(place, "axis", "dim", default=None)
    return tuple(axis) if isinstance(axis, list) else axis


def reduced_array(call: Call, array: Array, place: int | None, name: str) -> Value:
    """The result of summing up axes of an array.

    Raises
    ------
    ViolationError
        If there is no such axis, the array holds what has no sum, or is empty where it may not be.
    """
    _check_reducible(array, name)
    try:
        axes = axes_argument(call, place)
    except NotConcreteError:
        return Unknown()
    if isinstance(axes, (str, float)):
        return Unknown()
    keeps = call.flag(None, "keepdims", "keepdim")
    if array.home == "torch" and len(call.args) > (place or 0) + 1:
        keeps = call.flag((place or 0) + 1)
    shape = reduced(array, axes, keeps)
    if (
        array.size == 0
        and axes is None
        and name in ("min", "max", "argmax", "argmin", "amin", "amax")
    ) and array.home in ("numpy", "series", "torch"):
        exception = {"torch": "RuntimeError" if name in ("min", "max") else "IndexError"}
        if array.home != "series" or name.startswith("arg"):
            raise ViolationError(exception.get(array.home, "ValueError"), f"{name} of nothing")
    if name in ("cumsum", "cumprod"):
        shape = array.shape if axes is not None else (array.size,)
    made = derived(array, shape)
    if array.home in ("series", "index"):
        made.home = "numpy"
    made.dtype = _dtype(array, name)
    if array.data is not None and array.data.dtype.kind in "biuf" and array.home != "torch":
        function: Any = getattr(np, name, None)
        data = array.data
        if array.home == "series" and data.dtype.kind == "f" and axes is None:
            data = data[~np.isnan(data)]
        if function is not None and name not in ("count_nonzero", "average"):
            result = computed.folded(lambda: function(data, axis=axes)) if data.size else Unknown()
            if isinstance(result, Array) and result.shape == shape:
                return result
    _bounds(array, made, name, axes)
    if array.home == "torch":
        if name in ("argmax", "argmin", "any", "all"):
            made.needs_grad, made.graph = False, ()
        of_graph(made, array)
    return made


def _bounds(array: Array, made: Array, name: str, axes: Any) -> None:
    low, high, is_attained = facts.bounds(array)
    if name in ("max", "amax", "min", "amin", "mean", "median") and low is not None:
        made.low, made.high = low, high
        if axes is None and is_attained and name in ("max", "amax"):
            made.low = made.high
            made.is_attained = True
        if axes is None and is_attained and name in ("min", "amin"):
            made.high = made.low
            made.is_attained = True
    if name in ("argmax", "argmin") and array.size:
        made.low, made.high = 0, array.size - 1
    nan = facts.has_nan(array)
    if axes is None and name in ("max", "min", "mean", "sum", "std", "var", "median", "prod"):
        if array.home != "series":
            made.nan = True if nan else None
            if array.size == 0 and name in ("mean", "std", "var", "median"):
                made.nan = True
        elif array.size == 0 and name in ("mean", "std", "var", "median", "min", "max"):
            made.nan = True
    if nan is False and array.size and name in ("max", "min", "argmax", "argmin"):
        made.nan = False
    if (
        name in ("any", "all")
        and array.uniques is not None
        and len(array.uniques) == 1
        and axes is None
    ):
        made.uniques = (bool(array.uniques[0]),)


def _dtype(array: Array, name: str) -> str | None:
    kind = facts.kind(array)
    if name in WHOLE:
        return "int64"
    if name in ("any", "all"):
        return "bool"
    if name in ("mean", "std", "var", "median", "average"):
        if array.home == "torch" or kind == "f":
            return array.dtype
        return "float64" if kind in ("i", "u", "b") else None
    if name in ("sum", "prod", "cumsum", "cumprod") and kind == "b":
        return "int64"
    return array.dtype


def _check_reducible(array: Array, name: str) -> None:
    kind = facts.kind(array)
    is_text = array.dtype == "str" or array.element_types == ("str",)
    if is_text and name in ("mean", "std", "var", "median", "prod", "average", "cumprod"):
        is_ufunc = array.home == "numpy" and array.dtype == "str"
        raise ViolationError("UFuncTypeError" if is_ufunc else "TypeError", f"{name} of text")
    if is_text and name in ("sum", "cumsum") and array.home == "numpy" and array.dtype == "str":
        raise ViolationError("UFuncTypeError", f"{name} of text")
    if (
        is_text
        and name in ("argmax", "argmin")
        and array.home == "series"
        and array.dtype == "object"
    ):
        raise ViolationError("TypeError", f"{name} of text")
    if kind == "M" and name in ("sum", "prod", "cumsum"):
        raise ViolationError(
            "UFuncTypeError" if array.home == "numpy" else "TypeError", f"{name} of dates"
        )
    if kind == "C" and name in ("mean", "sum", "std", "var", "median", "prod"):
        raise ViolationError("TypeError", f"{name} of categories")
    if array.home == "torch" and kind in ("i", "u", "b") and name in ("mean", "std", "var"):
        raise ViolationError("RuntimeError", f"{name} of {array.dtype}")


def reduce(call: Call) -> Value:
    """A method that sums up axes."""
    array = call.receiver
    assert isinstance(array, Array)
    return reduced_array(call, array, 0, call.name)
