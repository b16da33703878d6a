"""Shapes: how they broadcast, multiply, are put together and changed."""

from __future__ import annotations

from dataclasses import replace

from failbench.crashes.rules.knowledge.values import Array, Graph, Shape
from failbench.crashes.rules.knowledge.violation import ViolationError

ERRORS = {"torch": "RuntimeError"}
"""What a library raises where shapes do not fit; numpy and pandas raise ValueError."""


def error_of(array: Array) -> str:
    """The exception by which the library of an array refuses a shape."""
    return ERRORS.get(array.home, "ValueError")


def derived(
    array: Array, shape: Shape | None, dtype: str | None = None, keep: bool = False
) -> Array:
    """An array that was made of another.

    Parameters
    ----------
    dtype
        If it is another.
    keep
        Whether its values are among those of the other, so that bounds hold.
    """
    made = Array(array.home, shape, dtype or array.dtype)
    made.device, made.needs_grad = array.device, array.needs_grad
    made.is_leaf = None if array.needs_grad is None else not array.needs_grad
    made.graph = array.graph
    made.categories, made.member, made.element_types = (
        array.categories, array.member, array.element_types,
    )  # fmt: skip
    if keep:
        made.low, made.high = array.low, array.high
        made.nan = False if array.nan is False else None
        made.inf = False if array.inf is False else None
    return made


def of_graph(array: Array, *sources: Array) -> Array:
    """Give the result of an operation the graph of its sources, and a part of its own."""
    graphs = tuple(dict.fromkeys(part for each in sources for part in each.graph))
    needs = [each.needs_grad for each in sources]
    array.needs_grad = True if True in needs else None if None in needs else False
    array.is_leaf = not array.needs_grad
    if array.needs_grad:
        array.graph = (*graphs, Graph())
    return array


def broadcast(left: Array, right: Array, what: str = "operands") -> Shape | None:
    """The shape of an operation between elements.

    Raises
    ------
    ViolationError
        If the shapes do not fit.
    """
    home = left if left.home == "torch" else right
    return broadcast_shapes(left.shape, right.shape, error_of(home), what)


def broadcast_shapes(
    first: Shape | None, second: Shape | None, exception: str, what: str = "operands"
) -> Shape | None:
    """As :func:`broadcast`, of shapes."""
    if first is None or second is None:
        return None
    longest = max(len(first), len(second))
    padded = [(1,) * (longest - len(shape)) + shape for shape in (first, second)]
    sizes: list[int | None] = []
    for a, b in zip(*padded, strict=True):
        if a == b:
            sizes.append(a)
        elif a == 1 or b == 1:
            sizes.append(b if a == 1 else a)
        elif a is None or b is None:
            sizes.append(a if b is None else b)
        else:
            reason = f"{what} of shapes {shown(first)} and {shown(second)} do not broadcast"
            raise ViolationError(exception, reason)
    return tuple(sizes)


def shown(shape: Shape | None) -> str:
    """A shape as text."""
    return (
        "?" if shape is None else "(" + ", ".join("?" if n is None else str(n) for n in shape) + ")"
    )


def product(shape: Shape) -> int | None:
    """How many elements a shape has."""
    total = 1
    if 0 in shape:
        return 0
    for size in shape:
        if size is None:
            return None
        total *= size
    return total


def matmul(left: Shape | None, right: Shape | None, exception: str) -> Shape | None:
    """The shape of a matrix product.

    Raises
    ------
    ViolationError
        If inner sizes differ, or a factor has no axis.
    """
    if left is None or right is None:
        return None
    if not left or not right:
        raise ViolationError(exception, "a matrix product needs factors with axes")
    inner = right[-2] if len(right) > 1 else right[0]
    if left[-1] is not None and inner is not None and left[-1] != inner:
        reason = f"shapes {shown(left)} and {shown(right)} cannot be multiplied"
        raise ViolationError(exception, f"{reason}: {left[-1]} is not {inner}")
    stack: Shape | None = ()
    if len(left) > 2 or len(right) > 2:
        stack = broadcast_shapes(left[:-2], right[:-2], exception)
    if stack is None:
        return None
    rows = (left[-2],) if len(left) > 1 else ()
    columns = (right[-1],) if len(right) > 1 else ()
    return (*stack, *rows, *columns)


def reshaped(array: Array, sizes: Shape | None) -> Shape | None:
    """The shape after a change to ``sizes``, of which one may be -1.

    Raises
    ------
    ViolationError
        If the number of elements does not fit.
    """
    if sizes is None:
        return None
    if list(sizes).count(-1) > 1:
        raise ViolationError(error_of(array), "only one size can be left to be inferred")
    if any(size is None for size in sizes) or array.size is None:
        return tuple(None if size == -1 else size for size in sizes)
    known = product(tuple(size for size in sizes if size != -1)) or 0
    reason = f"{array.size} elements cannot be put into the shape {shown(sizes)}"
    if -1 in sizes:
        if known == 0 or array.size % known:
            raise ViolationError(error_of(array), reason)
        return tuple(array.size // known if size == -1 else size for size in sizes)
    if known != array.size:
        raise ViolationError(error_of(array), reason)
    return sizes


def axis_of(array: Array, axis: int, rank: int | None = None) -> int | None:
    """An axis counted from the front; None if the number of axes is not known.

    Raises
    ------
    ViolationError
        If there is no such axis.
    """
    rank = array.rank if rank is None else rank
    if rank is None:
        return None
    if (
        not -max(rank, 1 if array.home == "torch" else rank)
        <= axis
        < max(rank, 1 if array.home == "torch" else rank)
    ):
        exception = {"torch": "IndexError", "numpy": "AxisError"}.get(array.home, "ValueError")
        raise ViolationError(exception, f"there is no axis {axis} where there are {rank}")
    return axis % rank if rank else 0


def reduced(array: Array, axes: int | tuple[int, ...] | None, keeps: bool | None) -> Shape | None:
    """The shape after axes were summed up."""
    if array.shape is None:
        return None
    if axes is None:
        return (1,) * len(array.shape) if keeps else ()
    several = axes if isinstance(axes, tuple) else (axes,)
    gone = {axis_of(array, axis) for axis in several}
    if keeps is None:
        return None
    return tuple(
        1 if place in gone else size
        for place, size in enumerate(array.shape)
        if keeps or place not in gone
    )


def concatenated(arrays: list[Array], axis: int | None, exception: str) -> Shape | None:
    """The shape of arrays put one after another.

    Raises
    ------
    ViolationError
        If they have other numbers of axes, or other sizes beside the axis.
    """
    if not arrays:
        raise ViolationError(exception, "there is nothing to put together")
    known = [array.shape for array in arrays if array.shape is not None]
    if axis is None or len(known) < len(arrays):
        return None
    # torch lets an empty vector stand beside anything
    known = [shape for shape in known if exception != "RuntimeError" or shape != (0,)]
    if not known:
        return (0,)
    ranks = {len(shape) for shape in known}
    if 0 in ranks:
        raise ViolationError(exception, "arrays without axes cannot be put together")
    if len(ranks) > 1:
        raise ViolationError(exception, f"arrays with {sorted(ranks)} axes are put together")
    place = axis_of(replace(arrays[0]), axis, len(known[0])) or 0
    sizes: list[int | None] = list(known[0])
    for shape in known[1:]:
        for other, size in enumerate(shape):
            before = sizes[other]
            if other == place:
                sizes[other] = None if before is None or size is None else before + size
            elif before is not None and size is not None and before != size:
                reason = f"shapes {shown(known[0])} and {shown(shape)} differ beside axis {place}"
                raise ViolationError(exception, reason)
            elif before is None:
                sizes[other] = size
    return tuple(sizes)


def stacked(arrays: list[Array], axis: int | None, exception: str) -> Shape | None:
    """The shape of arrays put beside one another on a new axis.

    Raises
    ------
    ViolationError
        If their shapes differ.
    """
    if not arrays:
        raise ViolationError(exception, "there is nothing to stack")
    shapes = [array.shape for array in arrays]
    first = next((shape for shape in shapes if shape is not None), None)
    for shape in shapes:
        if shape is None or first is None:
            continue
        differ = len(shape) != len(first) or any(
            a is not None and b is not None and a != b for a, b in zip(shape, first, strict=False)
        )
        if differ:
            reason = f"arrays of shapes {shown(first)} and {shown(shape)} are stacked"
            raise ViolationError(exception, reason)
    if axis is None or first is None or any(shape is None for shape in shapes):
        return None
    place = axis % (len(first) + 1)
    return (*first[:place], len(arrays), *first[place:])


def squeezed(array: Array, axis: int | None) -> Shape | None:
    """The shape without axes of size one."""
    if array.shape is None:
        return None
    if axis is None:
        if any(size is None for size in array.shape):
            return None
        return tuple(size for size in array.shape if size != 1)
    place = axis_of(array, axis)
    if place is None or not array.shape:
        return array.shape
    size = array.shape[place]
    if size not in (1, None):
        if array.home == "torch":
            return array.shape
        raise ViolationError("ValueError", f"an axis of size {size} cannot be squeezed")
    if size is None:
        return None
    return array.shape[:place] + array.shape[place + 1 :]


def check_index(place: int, size: int, reason: str = "") -> None:
    """Refuse a position that is not there.

    Raises
    ------
    ViolationError
        ``IndexError``.
    """
    if not -size <= place < size:
        raise ViolationError(
            "IndexError", reason or f"there is no place {place} where there are {size}"
        )
