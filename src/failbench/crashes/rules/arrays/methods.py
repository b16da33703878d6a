"""Methods and properties that arrays of numpy, series and tensors share."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.arrays import grids
from failbench.crashes.rules.arrays.casting import cast
from failbench.crashes.rules.arrays.reductions import reduce
from failbench.crashes.rules.arrays.shaping import (
    expand,
    flat,
    given_array,
    numpy_reshape,
    of_shape,
    reshape,
    squeeze,
    swap,
    transpose,
)
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import lift, of_data
from failbench.crashes.rules.knowledge.shapes import derived, of_graph
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def astype(call: Call) -> Value:
    """In another type."""
    array = call.receiver
    assert isinstance(array, Array)
    dtype = named(call.arg(0, "dtype"))
    return cast(array, dtype)


def take(call: Call) -> Value:
    """Elements at places."""
    array = given_array(call)
    if array is None:
        return Unknown()
    place = 0 if isinstance(call.receiver, Array) else 1
    index = call.arg(place, "indices")
    if index is None or call.kwargs.get("axis") is not None or len(call.args) > place + 1:
        return Unknown()
    from_shape = Array(
        "numpy", (array.size,), array.dtype, array.data.ravel() if array.data is not None else None
    )
    from_shape.low, from_shape.high = array.low, array.high
    return grids.item(from_shape, index)


def item(call: Call) -> Value:
    """The one element."""
    array = call.receiver
    assert isinstance(array, Array)
    if array.home == "torch" and array.device == "meta":
        raise ViolationError("RuntimeError", "a tensor without data has no element")
    if not call.args and array.size is not None and array.size != 1:
        exception = "RuntimeError" if array.home == "torch" else "ValueError"
        raise ViolationError(exception, f"one of {array.size} elements is asked for")
    if array.data is not None and array.data.size == 1:
        return lift(array.data.ravel()[0].item())
    return Array("python", (), array.dtype, low=array.low, high=array.high, nan=array.nan)


def tolist(call: Call) -> Value:
    """As a list."""
    array = call.receiver
    assert isinstance(array, Array)
    if array.device == "meta":
        raise ViolationError("NotImplementedError", "a tensor without data is no list")
    if array.data is not None and array.data.size <= 2000 and array.data.dtype.kind in "biufUO":
        return lift(array.data.tolist())
    return Sequence("list", None, array.length)


def same(call: Call) -> Value:
    """An array of the same shape and type."""
    array = call.receiver
    assert isinstance(array, Array)
    made = of_shape(array, array.shape)
    made.home, made.labels, made.name = array.home, array.labels, array.name
    return made


def sort(call: Call) -> Value:
    """Sorted in place, or the places of the sorted."""
    array = call.receiver
    assert isinstance(array, Array)
    if call.name == "argsort":
        if array.data is not None and array.data.ndim == 1:
            return of_data(np.argsort(array.data, kind="stable"))
        size = array.size
        made = derived(array, array.shape, "int64")
        made.home, made.needs_grad, made.graph = (
            "torch" if array.home == "torch" else "numpy",
            False,
            (),
        )
        made.low, made.high = 0, None if size is None else size - 1
        made.is_attained = array.rank == 1 and bool(size)
        return made
    array.data = None
    return Known(None)


def round_(call: Call) -> Value:
    """Rounded."""
    array = call.receiver
    assert isinstance(array, Array)
    made = derived(array, array.shape)
    made.labels, made.nan, made.inf = array.labels, array.nan, array.inf
    if array.data is not None and array.data.dtype.kind in "iuf":
        decimals = call.integer(0, "decimals", default=0)
        made.data = None if decimals is None else np.round(array.data, decimals)
    return of_graph(made, array) if array.home == "torch" else made


def clip(call: Call) -> Value:
    """Kept between bounds."""
    array = call.receiver
    assert isinstance(array, Array)
    made = derived(array, array.shape)
    made.labels, made.nan = array.labels, array.nan
    low, high, _ = facts.bounds(array)
    bottom = call.number(0, "a_min", "min", "lower")
    top = call.number(1, "a_max", "max", "upper")
    made.low = low if bottom is None or low is None else max(low, bottom)
    made.high = high if top is None or high is None else min(high, top)
    if low is None:
        made.low, made.high = bottom, top
    return of_graph(made, array) if array.home == "torch" else made


def fill(call: Call) -> Value:
    """All elements set in place."""
    array = call.receiver
    assert isinstance(array, Array)
    array.data, array.uniques = None, None
    return Known(None)


REDUCING: Final = (
    "sum", "mean", "std", "var", "min", "max", "prod", "argmax", "argmin", "any", "all", "cumsum",
    "cumprod", "median",
)  # fmt: skip

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"numpy.ndarray.{name}": reduce for name in REDUCING if name != "median"},
    "numpy.ndarray.reshape": reshape,
    "numpy.reshape": numpy_reshape,
    "numpy.ndarray.ravel": flat,
    "numpy.ndarray.flatten": flat,
    "numpy.ravel": flat,
    "numpy.ndarray.squeeze": squeeze,
    "numpy.squeeze": squeeze,
    "numpy.expand_dims": expand,
    "numpy.ndarray.transpose": transpose,
    "numpy.transpose": transpose,
    "numpy.ndarray.swapaxes": swap,
    "numpy.swapaxes": swap,
    "numpy.ndarray.astype": astype,
    "numpy.ndarray.take": take,
    "numpy.ndarray.item": item,
    "numpy.ndarray.tolist": tolist,
    "numpy.ndarray.copy": same,
    "numpy.ndarray.clip": clip,
    "numpy.ndarray.round": round_,
    "numpy.ndarray.sort": sort,
    "numpy.ndarray.argsort": sort,
    "numpy.ndarray.fill": fill,
}
