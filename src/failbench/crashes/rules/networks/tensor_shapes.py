"""Tensors in another shape, and parts of them."""

from __future__ import annotations

from failbench.crashes.rules.arrays import array_attributes, shaping
from failbench.crashes.rules.arrays.creation import shape_of
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.shapes import axis_of, derived, of_graph, reshaped, shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def view(call: Call, tensor: Array) -> Value:
    """In another shape, without a copy where it is a view.

    Raises
    ------
    ViolationError
        If the number of elements does not fit, or a view would need a copy.
    """
    args = call.args
    target = call.kwargs.get("shape") or call.kwargs.get("size")
    if target is None:
        if len(args) == 1 and named(args[0]) is not None and not isinstance(args[0], Known):
            return Unknown()
        target = args[0] if len(args) == 1 else Sequence("tuple", list(args))
    if not call.is_complete:
        return derived(tensor, None)
    shape = reshaped(tensor, shape_of(target))
    made = shaping.of_shape(tensor, shape)
    made.is_contiguous = True
    if (
        call.name == "view"
        and tensor.is_contiguous is False
        and tensor.shape is not None
        and shape is not None
    ):
        kept = [size for size in tensor.shape if size != 1]
        wanted = [size for size in shape if size != 1]
        if kept != wanted and len(wanted) < len(kept):
            raise ViolationError(
                "RuntimeError", "view size is not compatible with input tensor's size and stride"
            )
    return made


def flatten(call: Call, tensor: Array) -> Value:
    """Axes made one."""
    start, end = call.integer(0, "start_dim", default=0), call.integer(1, "end_dim", default=-1)
    if tensor.shape is None or start is None or end is None:
        return derived(tensor, None)
    first, last = axis_of(tensor, start) or 0, axis_of(tensor, end) or 0
    if first > last:
        raise ViolationError(
            "RuntimeError", "flatten() has invalid args: start_dim cannot come after end_dim"
        )
    part = tensor.shape[first : last + 1]
    total: int | None = 1
    for size in part:
        total = None if total is None or size is None else total * size
    return shaping.of_shape(tensor, (*tensor.shape[:first], total, *tensor.shape[last + 1 :]))


def expand(call: Call, tensor: Array) -> Value:
    """Repeated along axes of size one."""
    shape = shape_of(call.args[0] if len(call.args) == 1 else Sequence("tuple", list(call.args)))
    if shape is None or tensor.shape is None:
        return derived(tensor, None)
    if len(shape) < len(tensor.shape):
        raise ViolationError(
            "RuntimeError", f"{shown(tensor.shape)} cannot be expanded to {shown(shape)}"
        )
    padded = (1,) * (len(shape) - len(tensor.shape)) + tensor.shape
    sizes = []
    for size, wanted in zip(padded, shape, strict=False):
        if wanted == -1:
            sizes.append(size)
        elif size in (1, wanted, None) or wanted is None:
            sizes.append(wanted)
        else:
            raise ViolationError(
                "RuntimeError", f"{shown(tensor.shape)} cannot be expanded to {shown(shape)}"
            )
    return of_graph(derived(tensor, tuple(sizes), keep=True), tensor)


def parts(call: Call, tensor: Array) -> Value:
    """Parts along an axis."""
    name = call.name
    axis = call.integer(0 if name == "unbind" else 1, "dim", default=0)
    if axis is None or tensor.shape is None:
        return Sequence("tuple")
    place = axis_of(tensor, axis) or 0
    size = tensor.shape[place] if tensor.shape else None

    before, after = tensor.shape[:place], tensor.shape[place + 1 :]

    def piece(length: int | None) -> Array:
        rest = (*before, *after) if name == "unbind" else (*before, length, *after)
        made = derived(tensor, rest, keep=True)
        made.is_contiguous = tensor.is_contiguous if place == 0 else None
        return of_graph(made, tensor)

    if name == "unbind":
        return Sequence(
            "tuple", None if size is None or size > 200 else [piece(None) for _ in range(size)]
        )
    given = call.arg(0, "split_size_or_sections", "split_size", "chunks")
    sizes = shape_of(given) if given is not None else None
    if (
        name == "split"
        and isinstance(given, Sequence)
        and sizes is not None
        and size is not None
        and None not in sizes
    ):
        if sum(each or 0 for each in sizes) != size:
            raise ViolationError(
                "RuntimeError", f"split_with_sizes expects split_sizes to sum exactly to {size}"
            )
        return Sequence("tuple", [piece(each) for each in sizes])
    count = sizes[0] if sizes else None
    if count is not None and count <= 0:
        raise ViolationError("RuntimeError", f"{name} of {count}")
    if size is None or count is None:
        return Sequence("tuple")
    step = count if name == "split" else -(-size // count)
    lengths = [min(step, size - start) for start in range(0, size, step)]
    return Sequence("tuple", [piece(each) for each in lengths] if len(lengths) <= 200 else None)


def gather(call: Call, tensor: Array) -> Value:
    """Elements at places along an axis.

    Raises
    ------
    ViolationError
        If a place is not there, or places are no whole numbers.
    """
    axis, index = call.integer(0, "dim"), call.arg(1, "index")
    if not isinstance(index, Array) or axis is None or tensor.shape is None:
        return derived(tensor, None)
    place = axis_of(tensor, axis) or 0
    if facts.kind(index) in ("f", "b"):
        raise ViolationError("RuntimeError", f"places are whole numbers, not {index.dtype}")
    if call.name == "gather" and index.rank is not None and index.rank != tensor.rank:
        raise ViolationError(
            "RuntimeError", "Index tensor must have the same number of dimensions as input tensor"
        )
    size = tensor.shape[place] if tensor.shape else None
    high, low = facts.highest(index), facts.lowest(index)
    if size is not None and ((high is not None and high >= size) or (low is not None and low < 0)):
        wrong = "RuntimeError" if call.name != "index_select" else "IndexError"
        raise ViolationError(
            wrong, f"index {high} is out of bounds for dimension {place} with size {size}"
        )
    shape = (
        index.shape
        if call.name == "gather"
        else (*tensor.shape[:place], index.length, *tensor.shape[place + 1 :])
    )
    return of_graph(derived(tensor, shape, keep=True), tensor)


def lengths(call: Call, tensor: Array) -> Value:
    """The shape, an axis of it, or other numbers."""
    shape = array_attributes._shape(tensor, "shape", call.state)
    if call.name == "size" and (call.args or call.kwargs):
        axis = call.integer(0, "dim")
        if axis is None or tensor.shape is None:
            return Array("python", (), "int64")
        size = tensor.shape[axis_of(tensor, axis) or 0] if tensor.shape else None
        return Array("python", (), "int64") if size is None else Known(size)
    if call.name == "size":
        return shape
    if call.name in ("dim", "ndimension"):
        return Unknown() if tensor.rank is None else Known(tensor.rank)
    if call.name in ("numel", "nelement"):
        return Unknown() if tensor.size is None else Known(tensor.size)
    return Unknown()
