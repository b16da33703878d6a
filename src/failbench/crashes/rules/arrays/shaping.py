"""The same elements in another shape."""

from __future__ import annotations

from failbench.crashes.rules.arrays.creation import shape_of
from failbench.crashes.rules.evaluation import operands
from failbench.crashes.rules.knowledge.folding import NotConcreteError
from failbench.crashes.rules.knowledge.shapes import axis_of, derived, of_graph, reshaped, squeezed
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Shape, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


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
    array = operands.as_array(call.first())
    if array is None:
        return Unknown()
    return of_shape(array, reshaped(array, shape_of(call.arg(1, "shape", "newshape"))))


def flat(call: Call) -> Value:
    """All elements in a row."""
    array = given_array(call)
    return Unknown() if array is None else of_shape(array, (array.size,))


def given_array(call: Call) -> Array | None:
    """The array that a method is called of, or that a function is given first."""
    if isinstance(call.receiver, Array):
        return call.receiver
    return operands.as_array(call.first())


def squeeze(call: Call) -> Value:
    """Without axes of size one."""
    array = given_array(call)
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
    array = given_array(call)
    axis = call.integer(0 if isinstance(call.receiver, Array) else 1, "axis", "dim")
    if array is None or array.shape is None or axis is None:
        return Unknown()
    place = axis_of(array, axis, len(array.shape) + 1) or 0
    return of_shape(array, (*array.shape[:place], 1, *array.shape[place:]))


def transpose(call: Call) -> Value:
    """Axes in another order."""
    array = given_array(call)
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
    array = given_array(call)
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
