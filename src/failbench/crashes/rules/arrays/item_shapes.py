"""Shapes of items of arrays, and whether the items are there."""

from __future__ import annotations

from failbench.crashes.rules.evaluation.operands import as_array
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import broadcast_shapes, shown
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Shape, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def shape_of_item(owner: Array, parts: list[Value]) -> Shape | None:
    """The shape of what indices select.

    Raises
    ------
    ViolationError
        As :func:`item`.
    """
    used = 0
    is_certain = True
    for part in parts:
        width = _width(part)
        is_certain &= width is not None
        used += width or 0
    rank = owner.rank
    if rank is not None and used > rank:
        reason = f"{used} indices are given where there are {rank} axes"
        raise ViolationError("IndexError", reason)
    if rank is None or owner.shape is None:
        for part in parts:
            check_kind(owner, part)
        return None
    sizes: list[int | None] = []
    advanced: list[Shape | None] = []
    place_of_advanced = None
    axis = 0
    for part in parts:
        check_kind(owner, part)
        if isinstance(part, Known) and part.data is None:
            sizes.append(1)
            continue
        if isinstance(part, Known) and part.data is Ellipsis:
            if not is_certain:
                return None
            skipped = rank - used
            sizes += owner.shape[axis : axis + skipped]
            axis += skipped
            continue
        if axis >= rank:
            return None
        size = owner.shape[axis]
        if isinstance(part, Known) and isinstance(part.data, slice):
            sizes.append(_sliced(size, part.data, owner))
            axis += 1
        elif isinstance(part, Known) and isinstance(part.data, int):
            _check_place(size, part.data, axis)
            axis += 1
        elif type(part).__name__ == "UncertainSlice":
            sizes.append(None)
            axis += 1
        else:
            taken = as_array(part)
            if taken is None:
                if isinstance(part, Sequence) and part.kind == "list":
                    taken = Array("numpy", (part.size,), None)
                else:
                    return None
            if place_of_advanced is None:
                place_of_advanced = len(sizes)
            if facts.kind(taken) == "b":
                axis = _masked(owner, taken, axis)
                advanced.append((_kept(taken),))
            else:
                _check_places(size, taken, axis)
                advanced.append(taken.shape)
                axis += 1
    result = [*sizes, *owner.shape[axis:]]
    if place_of_advanced is None:
        return tuple(result)
    shape: Shape | None = advanced[0]
    for each in advanced[1:]:
        shape = broadcast_shapes(shape, each, "IndexError", "indices")
    if shape is None:
        return None
    return (*result[:place_of_advanced], *shape, *result[place_of_advanced:])


def _width(part: Value) -> int | None:
    if isinstance(part, Known):
        return 0 if part.data is None or part.data is Ellipsis else 1
    if isinstance(part, Array):
        return None if part.rank is None else max(part.rank, 1) if facts.kind(part) == "b" else 1
    if isinstance(part, Sequence):
        return 1
    return 1 if type(part).__name__ == "UncertainSlice" else None


def check_kind(owner: Array, part: Value) -> None:
    """Refuse what does not select from the array."""
    may_have_fields = (
        owner.home == "numpy" and owner.fields is None and owner.dtype in (None, "void")
    )
    if isinstance(part, Known) and isinstance(part.data, str) and may_have_fields:
        return
    if isinstance(part, Known) and isinstance(part.data, (str, float)):
        is_text_of_tensor = owner.home == "torch"
        exception = "TypeError" if is_text_of_tensor else "IndexError"
        raise ViolationError(exception, f"{part.data!r} is no index of an array")
    if isinstance(part, Array) and facts.kind(part) in ("f", "U", "M", "c"):
        raise ViolationError("IndexError", f"an array is not indexed by {part.dtype}")
    if (
        isinstance(part, Sequence)
        and part.items
        and all(isinstance(e, Known) for e in part.items)
        and (
            any(
                isinstance(each, Known) and isinstance(each.data, (str, float))
                for each in part.items
            )
        )
    ):
        raise ViolationError("IndexError", "an array is indexed by whole numbers")
    if (
        isinstance(part, Known)
        and isinstance(part.data, slice)
        and owner.home == "torch"
        and isinstance(part.data.step, int)
        and part.data.step < 1
    ):
        raise ViolationError("ValueError", "a step of a tensor is greater than zero")


def _sliced(size: int | None, part: slice, _owner: Array) -> int | None:
    ends = (part.start, part.stop, part.step)
    if any(isinstance(each, float) for each in ends):
        raise ViolationError("TypeError", "ends of a slice are whole numbers")
    if size is None:
        return None
    try:
        return len(range(*part.indices(size)))
    except (TypeError, ValueError):
        return None


def _check_place(size: int | None, place: int, axis: int) -> None:
    if size is not None and not -size <= place < size:
        reason = f"there is no place {place} on axis {axis} of size {size}"
        raise ViolationError("IndexError", reason)


def _check_places(size: int | None, index: Array, axis: int) -> None:
    if size is None or index.size == 0:
        return
    low, high, is_attained = facts.bounds(index)
    if low is None or high is None:
        return
    if (is_attained and (high >= size or low < -size)) or low >= size or high < -size:
        place = high if high >= size else low
        raise ViolationError(
            "IndexError", f"there is no place {place:g} on axis {axis} of size {size}"
        )


def _masked(owner: Array, mask: Array, axis: int) -> int:
    rank = mask.rank or 1
    assert owner.shape is not None
    for offset in range(rank):
        if axis + offset >= len(owner.shape):
            raise ViolationError("IndexError", "a mask has more axes than what it masks")
        size = owner.shape[axis + offset]
        other = None if mask.shape is None or not mask.shape else mask.shape[offset]
        if size is not None and other is not None and size != other:
            reason = f"a mask of {shown(mask.shape)} does not fit {shown(owner.shape)}"
            raise ViolationError("IndexError", reason)
    return axis + rank


def _kept(mask: Array) -> int | None:
    if mask.data is not None:
        return int(mask.data.sum())
    known = mask.uniques
    if known is not None and len(known) == 1 and mask.size is not None:
        return mask.size if known[0] else 0
    return None
