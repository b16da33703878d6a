"""Arrays that are joined and repeated."""

from __future__ import annotations

import math

import numpy as np

from failbench.crashes.rules.arrays.casting import of_frame
from failbench.crashes.rules.arrays.folds import first_array, folded
from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.shapes import concatenated, derived, product, stacked
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Sequence, Shape, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def join(call: Call) -> Value:
    """Concatenation and stacking."""
    known = folded(call)
    if known is not None:
        return known
    items = iteration.elements(call.first())
    if items is None:
        return Array("numpy", None, None)
    arrays = [of_frame(e) if isinstance(e, Frame) else operands.as_array(e) for e in items]
    if any(array is None for array in arrays):
        return Array("numpy", None, None)
    parts = [array for array in arrays if array is not None]
    dtype = parts[0].dtype if parts else None
    for part in parts[1:]:
        dtype = promoted(dtype, part.dtype)
    axis = call.integer(1, "axis", default=0)
    shape = _joined_shape(call.name, parts, axis)
    memory.check(None if shape is None else product(shape), dtype)
    made = Array("numpy", shape, dtype)
    gaps = [facts.has_nan(part) for part in parts]
    made.nan = True if True in gaps else False if set(gaps) == {False} else None
    infinite = [facts.has_inf(part) for part in parts]
    made.inf = True if True in infinite else False if set(infinite) == {False} else None
    return made


def _joined_shape(name: str, parts: list[Array], axis: int | None) -> Shape | None:
    if name == "stack":
        return stacked(parts, axis, "ValueError")
    if name == "concatenate":
        return concatenated(parts, axis, "ValueError")
    if any(part.shape is None for part in parts):
        return None
    shapes = [part.shape or () for part in parts]
    if name == "column_stack":
        shapes = [(*shape, 1) if len(shape) == 1 else shape for shape in shapes]
        place = 1
    elif name == "vstack":
        shapes = [(1, *shape) if len(shape) == 1 else shape for shape in shapes]
        place = 0
    elif name == "dstack":
        return None
    else:
        place = 0 if len(shapes[0]) <= 1 else 1
    return concatenated([Array("numpy", shape) for shape in shapes], place, "ValueError")


def repeat(call: Call) -> Value:
    """Copies of an array beside one another."""
    array = first_array(call)
    times = call.arg(1, "reps", "repeats")
    counts = None
    if array is not None and times is not None and array.size is not None:
        try:
            counts = concrete(times)
        except NotConcreteError:
            counts = None
    if array is None:
        return Unknown()
    if isinstance(counts, (int, np.integer)) and array.size is not None:
        memory.check(array.size * int(counts), array.dtype)
        known = folded(call)
        if known is not None:
            return known
        if array.rank == 1:
            return derived(array, (array.size * int(counts),), keep=True)
    if isinstance(counts, tuple) and array.size is not None:
        memory.check(array.size * math.prod(int(each) for each in counts), array.dtype)
        known = folded(call)
        if known is not None:
            return known
    if isinstance(counts, (list, np.ndarray)) and call.name == "repeat" and array.rank == 1:
        if np.size(counts) not in (1, array.length) and array.length is not None:
            raise ViolationError("ValueError", "a count of repeats is due for each element")
        known = folded(call)
        if known is not None:
            return known
    return derived(array, None, keep=True)


def mesh(call: Call) -> Value:
    """Grids of coordinates."""
    arrays = [operands.as_array(each) for each in call.args]
    sizes = [None if array is None else array.size for array in arrays]
    total = product(tuple(sizes))
    memory.check(None if total is None else total * len(sizes), "float64")
    shape = tuple(sizes[1::-1] + sizes[2:])
    if call.text(None, "indexing", default="xy") == "ij":
        shape = tuple(sizes)
    items: list[Value] = [
        derived(each, shape, keep=True) if each is not None else Array("numpy", shape)
        for each in arrays
    ]
    return Sequence("tuple", items)
