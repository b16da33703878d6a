"""Functions of numpy of the elements of two arrays."""

from __future__ import annotations

import math
from typing import Final

from failbench.crashes.rules.arrays.folds import folded
from failbench.crashes.rules.evaluation import arithmetic, operands
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.shapes import broadcast, broadcast_shapes, derived, product
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Sequence, Shape, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

PAIRS: Final = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "hypot", "arctan2",
    "mod", "fmod", "floor_divide", "true_divide", "fmax", "fmin", "logaddexp", "logical_and",
    "logical_or", "greater", "less", "equal", "not_equal", "bitwise_and", "bitwise_or",
)  # fmt: skip
OPERATORS: Final = {
    "add": "Add", "subtract": "Sub", "multiply": "Mult", "divide": "Div", "power": "Pow",
    "true_divide": "Div", "bitwise_and": "BitAnd", "bitwise_or": "BitOr", "mod": "Mod",
}  # fmt: skip


def pair(call: Call) -> Value:
    """A function of elements of two arrays."""
    if len(call.args) >= 2 and call.name in OPERATORS:
        given = [operands.as_array(each) or each for each in call.args[:2]]
        return arithmetic.binary(OPERATORS[call.name], given[0], given[1], call.state)
    known = folded(call)
    if known is not None:
        return known
    arrays = [operands.as_array(each) for each in call.args[:2]]
    if len(arrays) < 2 or arrays[0] is None or arrays[1] is None:
        return Unknown()
    first, second = arrays[0], arrays[1]
    if first.home == second.home == "series":
        return derived(first, first.shape)
    shape = broadcast(first, second)
    memory.check(None if shape is None else product(shape), promoted(first.dtype, second.dtype))
    made = derived(first if first.rank else second, shape, promoted(first.dtype, second.dtype))
    if call.name in ("maximum", "minimum"):
        bounds = facts.bounds(second)
        low, high, _ = facts.bounds(first)
        if call.name == "maximum" and bounds[0] is not None:
            made.low = max(bounds[0], low if low is not None else bounds[0])
            made.high = high
            made.inf = facts.has_inf(first) if high is None else None
            if math.isfinite(made.low) and high is not None and math.isfinite(high):
                made.inf = False
        elif call.name == "minimum" and bounds[1] is not None:
            made.low, made.high = low, min(bounds[1], high if high is not None else bounds[1])
        if True in (facts.has_nan(first), facts.has_nan(second)):
            made.nan = True
    return made


def where(call: Call) -> Value:
    """A choice by a mask."""
    known = folded(call)
    if known is not None:
        return known
    arrays = [operands.as_array(each) for each in call.args]
    if len(arrays) == 1:
        array = arrays[0]
        rank = None if array is None else array.rank
        if rank is None:
            return Unknown()
        places: list[Value] = [Array("numpy", (None,), "int64") for _ in range(rank)]
        return Sequence("tuple", places)
    if len(arrays) == 2:
        raise ViolationError("ValueError", "either both or neither of x and y should be given")
    shape: Shape | None = ()
    for array in arrays:
        shape = None if array is None else broadcast_shapes(shape, array.shape, "ValueError")
    x, y = arrays[1], arrays[2]
    made = Array("numpy", shape, None if x is None or y is None else promoted(x.dtype, y.dtype))
    if x is not None and y is not None:
        lows = facts.bounds(x)[0], facts.bounds(y)[0]
        highs = facts.bounds(x)[1], facts.bounds(y)[1]
        if None not in (*lows, *highs):
            made.low, made.high = (
                min(e for e in lows if e is not None),
                max(e for e in highs if e is not None),
            )
    return made
