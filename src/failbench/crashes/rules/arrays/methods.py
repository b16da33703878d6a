"""Methods and properties that arrays of numpy, series and tensors share."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from failbench.crashes.rules.arrays import grids
from failbench.crashes.rules.arrays.creation import cast, shape_of
from failbench.crashes.rules.evaluation import operators
from failbench.crashes.rules.evaluation.registry import Handler, Property
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError, lift, of_data
from failbench.crashes.rules.knowledge.shapes import (
    axis_of,
    derived,
    of_graph,
    product,
    reduced,
    reshaped,
    squeezed,
)
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Sequence,
    Shape,
    Thing,
    Unknown,
    Value,
)
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
            result = operators.folded(lambda: function(data, axis=axes)) if data.size else Unknown()
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


def reshape(call: Call) -> Value:
    """A method that changes the shape."""
    array = call.receiver
    assert isinstance(array, Array)
    args = call.args
    target = call.kwargs.get("shape") or call.kwargs.get("newshape")
    if target is None:
        target = args[0] if len(args) == 1 else Sequence("tuple", list(args))
    if not call.is_complete:
        return derived(array, None, keep=True)
    return of_shape(array, reshaped(array, shape_of(target)))


def of_shape(array: Array, shape: Shape | None) -> Array:
    """The same values in another shape."""
    made = derived(array, shape, keep=True)
    made.is_attained, made.uniques, made.distinct = array.is_attained, array.uniques, array.distinct
    made.nan, made.inf = array.nan, array.inf
    if array.data is not None and shape is not None and None not in shape:
        made.data = array.data.reshape([size or 0 for size in shape])
    if array.home in ("series", "index"):
        made.home = "numpy"
    return of_graph(made, array) if array.home == "torch" else made


def numpy_reshape(call: Call) -> Value:
    """The function ``numpy.reshape``."""
    array = operators.as_array(call.first())
    if array is None:
        return Unknown()
    return of_shape(array, reshaped(array, shape_of(call.arg(1, "shape", "newshape"))))


def flat(call: Call) -> Value:
    """All elements in a row."""
    array = _given(call)
    return Unknown() if array is None else of_shape(array, (array.size,))


def _given(call: Call) -> Array | None:
    if isinstance(call.receiver, Array):
        return call.receiver
    return operators.as_array(call.first())


def squeeze(call: Call) -> Value:
    """Without axes of size one."""
    array = _given(call)
    if array is None:
        return Unknown()
    try:
        axis = call.known(0 if isinstance(call.receiver, Array) else 1, "axis", "dim", default=None)
    except NotConcreteError:
        return Unknown()
    if isinstance(axis, tuple):
        return Unknown()
    if array.home == "torch" and axis is not None:
        axis_of(array, axis)
    return of_shape(array, squeezed(array, axis))


def expand(call: Call) -> Value:
    """With a new axis of size one."""
    array = _given(call)
    axis = call.integer(0 if isinstance(call.receiver, Array) else 1, "axis", "dim")
    if array is None or array.shape is None or axis is None:
        return Unknown()
    place = axis_of(array, axis, len(array.shape) + 1) or 0
    return of_shape(array, (*array.shape[:place], 1, *array.shape[place:]))


def transpose(call: Call) -> Value:
    """Axes in another order."""
    array = _given(call)
    if array is None:
        return Unknown()
    args = call.args if isinstance(call.receiver, Array) else call.args[1:]
    if "axes" in call.kwargs:
        args = [call.kwargs["axes"]]
    if len(args) == 1 and isinstance(args[0], Known) and args[0].data is None:
        args = []
    shape = shape_of(args[0] if len(args) == 1 else Sequence("tuple", list(args))) if args else None
    return transposed(array, shape if args else None, is_default=not args)


def transposed(array: Array, axes: Shape | None, is_default: bool = False) -> Value:
    """An array with axes in another order.

    Raises
    ------
    ViolationError
        If not each axis is named once.
    """
    if array.shape is None:
        return derived(array, None, keep=True)
    if is_default:
        axes = tuple(range(len(array.shape)))[::-1]
    if axes is None or None in axes:
        return derived(array, None, keep=True)
    known = [axis for axis in axes if axis is not None]
    exception = "RuntimeError" if array.home == "torch" else "ValueError"
    if len(known) != len(array.shape):
        raise ViolationError(
            exception, f"{len(known)} axes are named where there are {len(array.shape)}"
        )
    places = [axis_of(array, axis) or 0 for axis in known]
    if len(set(places)) < len(places):
        raise ViolationError(exception, "an axis is named twice")
    made = derived(array, tuple(array.shape[place] for place in places), keep=True)
    made.is_attained, made.uniques, made.nan, made.inf = (
        array.is_attained,
        array.uniques,
        array.nan,
        array.inf,
    )
    if array.data is not None:
        made.data = array.data.transpose(places)
    if array.home == "torch":
        is_same = places == sorted(places)
        sizes = [size for size in array.shape if size != 1]
        made.is_contiguous = array.is_contiguous if is_same or len(sizes) < 2 else None
        if (
            array.is_contiguous is not False
            and not is_same
            and None not in sizes
            and len(sizes) > 1
        ):
            kept = [place for place in places if array.shape[place] != 1]
            made.is_contiguous = kept == sorted(kept)
        of_graph(made, array)
    return made


def swap(call: Call) -> Value:
    """Two axes swapped."""
    array = _given(call)
    first = 0 if isinstance(call.receiver, Array) else 1
    one = call.integer(first, "axis1", "dim0")
    other = call.integer(first + 1, "axis2", "dim1")
    if array is None or one is None or other is None or array.shape is None:
        return Unknown()
    axes = list(range(len(array.shape)))
    left, right = axis_of(array, one), axis_of(array, other)
    if left is None or right is None or not axes:
        return Unknown()
    axes[left], axes[right] = axes[right], axes[left]
    return transposed(array, tuple(axes))


def astype(call: Call) -> Value:
    """In another type."""
    array = call.receiver
    assert isinstance(array, Array)
    dtype = named(call.arg(0, "dtype"))
    return cast(array, dtype)


def take(call: Call) -> Value:
    """Elements at places."""
    array = _given(call)
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


def _shape(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    if value.shape is None:
        return Sequence("tuple")
    return Sequence(
        "tuple",
        [
            Array("python", (), "int64", low=0) if size is None else Known(size)
            for size in value.shape
        ],
    )


def _ndim(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return Array("python", (), "int64") if value.rank is None else Known(value.rank)


def _size(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return Array("python", (), "int64", low=0) if value.size is None else Known(value.size)


def _transposed(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return value if value.home in ("series", "index") else transposed(value, None, is_default=True)


def _dtype_of(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    paths = {"torch": "torch.dtype", "numpy": "numpy.dtype"}
    return Thing(paths.get(value.home, "pandas.dtype"), {"dtype": value.dtype})


def _flat(value: Value, _name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    return (
        of_shape(value, (value.size,))
        if value.member is None
        else Array(
            value.home,
            (None if value.shape is None else product(value.shape),),
            "object",
            member=value.member,
        )
    )


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

PROPERTIES: Final[dict[str, Property]] = {
    f"{path}.{name}": rule
    for path in (
        "numpy.ndarray",
        "pandas.Series",
        "pandas.Index",
        "pandas.DatetimeIndex",
        "torch.Tensor",
    )
    for name, rule in {
        "shape": _shape,
        "ndim": _ndim,
        "size": _size,
        "T": _transposed,
        "dtype": _dtype_of,
        "flat": _flat,
    }.items()
    if not (path == "torch.Tensor" and name in ("size", "flat"))
}
