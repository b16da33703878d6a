"""Functions of numpy of arrays."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.arrays import methods as array_methods
from failbench.crashes.rules.arrays import reductions
from failbench.crashes.rules.arrays.elements import FLOATING, SAME, TESTS, unary
from failbench.crashes.rules.arrays.folds import FOLDABLE, first_array, folded
from failbench.crashes.rules.arrays.joins import join, mesh, repeat
from failbench.crashes.rules.arrays.pairs import PAIRS, pair, where
from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.folding import NotConcreteError
from failbench.crashes.rules.knowledge.shapes import axis_of, derived, product
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Sequence, Shape, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

REDUCING: Final = (
    "sum", "mean", "std", "var", "min", "max", "amin", "amax", "prod", "median", "argmax",
    "argmin", "any", "all", "ptp", "nanmean", "nanstd", "nanvar", "nansum", "nanmax", "nanmin",
    "nanmedian", "nanargmax", "nanargmin", "average", "percentile", "quantile", "nanpercentile",
    "count_nonzero", "cumsum", "cumprod",
)  # fmt: skip


def reduce(call: Call) -> Value:
    """A function that sums up axes."""
    value = call.first()
    if isinstance(value, Frame):
        return Unknown()
    array = first_array(call)
    if array is None:
        items = iteration.elements(value)
        if items is not None and not items and call.name in ("min", "max", "argmax", "argmin"):
            raise ViolationError("ValueError", f"{call.name} of nothing")
        return Unknown()
    if call.name in ("percentile", "quantile", "nanpercentile"):
        _check_share(call)
        known = folded(call)
        if known is not None:
            return known
        q = operands.as_array(call.args[1]) if len(call.args) > 1 else None
        made = reductions.reduced_array(call, array, 2, "median")
        if (
            isinstance(made, Array)
            and q is not None
            and made.shape is not None
            and q.shape is not None
        ):
            made.shape = (*q.shape, *made.shape)
        return made
    if call.name == "average":
        _check_weights(call, array)
    return reductions.reduced_array(call, array, 1, call.name.removeprefix("nan"))


def _check_share(call: Call) -> None:
    try:
        shares = np.asarray(call.known(1, "q"), dtype=float)
    except (NotConcreteError, ValueError, TypeError):
        return
    limit = 1 if call.name == "quantile" else 100
    if shares.size and (shares.min() < 0 or shares.max() > limit):
        raise ViolationError("ValueError", f"shares are between 0 and {limit}")


def _check_weights(call: Call, array: Array) -> None:
    weights = call.arg(2, "weights")
    taken = operands.as_array(weights) if weights is not None else None
    if taken is None or taken.shape is None or array.shape is None or taken.shape == array.shape:
        return
    axis = call.integer(1, "axis")
    if call.arg(1, "axis") is None:
        if taken.rank != array.rank:
            raise ViolationError(
                "TypeError", "an axis must be named where shapes of weights differ"
            )
        _differ(taken.shape, array.shape, "weights")
    elif axis is not None and taken.rank == 1:
        place = axis_of(array, axis)
        _differ(taken.shape, (array.shape[place or 0],), "weights")


def _differ(left: Shape, right: Shape, what: str) -> None:
    known = zip(left, right, strict=False)
    if any(a is not None and b is not None and a != b for a, b in known):
        raise ViolationError("ValueError", f"{what} have the shape {left} where {right} is due")


def general(call: Call) -> Value:
    """A function that is computed if it can be, and whose shape some rules know."""
    array = first_array(call)
    if array is not None:
        _check_general(call, array)
    known = folded(call)
    if known is not None:
        return known
    if array is None:
        return Unknown()
    size = array.length if array.rank == 1 else None
    if call.name == "unique" and not call.kwargs:
        made = derived(array, (facts.distinct(array),), keep=True)
        made.is_unique = True
        made.is_attained, made.uniques = array.is_attained, array.uniques
        made.low, made.high, _ = facts.bounds(array)
        return made
    if call.name == "diff" and size is not None:
        return derived(array, (max(size - 1, 0),))
    if call.name in ("convolve", "correlate") and len(call.args) > 1:
        other = operands.as_array(call.args[1])
        default = "full" if call.name == "convolve" else "valid"
        mode = call.text(2, "mode", default=default)
        if size is None or other is None or other.length is None:
            return Array("numpy", (None,), "float64")
        sizes = {"full": size + other.length - 1, "same": max(size, other.length),
                 "valid": abs(size - other.length) + 1}  # fmt: skip
        return Array("numpy", (sizes.get(mode or ""),), "float64")
    if call.name in ("flip", "roll", "fliplr", "flipud", "clip", "gradient", "isin", "isclose"):
        return derived(array, array.shape, "bool" if call.name.startswith("is") else None)
    if call.name in ("triu", "tril"):
        return derived(array, array.shape)
    if call.name in ("flatnonzero", "nonzero"):
        places = Array("numpy", (None,), "int64", low=0, high=None if size is None else size - 1)
        return places if call.name == "flatnonzero" else Sequence("tuple")
    if call.name == "bincount":
        _low, high, is_attained = facts.bounds(array)
        length = call.integer(None, "minlength", default=0)
        exact = is_attained and high is not None and length is not None
        return Array("numpy", (max(int(high or 0) + 1, length or 0) if exact else None,), "int64")
    if call.name == "outer" and len(call.args) > 1:
        other = operands.as_array(call.args[1])
        shape = (array.size, None if other is None else other.size)
        memory.check(
            product(shape), "float64" if other is None else promoted(array.dtype, other.dtype)
        )
        return Array("numpy", shape)
    if call.name in ("corrcoef", "cov") and array.rank == 2 and array.shape:
        rowvar = call.flag(None, "rowvar", default=True)
        side = None if rowvar is None else array.shape[0 if rowvar else 1]
        return Array("numpy", (side, side), "float64")
    return Unknown()


def _check_general(call: Call, array: Array) -> None:
    name = call.name
    if name == "bincount":
        if array.rank is not None and array.rank != 1:
            raise ViolationError("ValueError", "counts are of a vector")
        if facts.kind(array) in ("f", "U", "O"):
            raise ViolationError("TypeError", f"counts are of whole numbers, not of {array.dtype}")
        low = facts.lowest(array)
        if low is not None and low < 0:
            raise ViolationError("ValueError", "counts are of numbers that are not negative")
        high = facts.highest(array)
        memory.check(None if high is None else int(high) + 1, "int64")
    if (
        name == "histogram"
        and call.arg(None, "range") is None
        and array.rank is not None
        and (facts.has_nan(array) or facts.has_inf(array))
    ):
        raise ViolationError("ValueError", "a range of values that are not finite")
    if name in ("interp", "polyfit", "histogram", "trapezoid") and len(call.args) > 1:
        pairs = {"interp": (1, 2), "polyfit": (0, 1)}
        if name in pairs and len(call.args) > pairs[name][1]:
            left, right = (operands.as_array(call.args[place]) for place in pairs[name])
            if (
                left is not None
                and right is not None
                and left.rank == right.rank == 1
                and None not in (left.length, right.length)
                and left.length != right.length
            ):
                exception = "TypeError" if name == "polyfit" else "ValueError"
                raise ViolationError(
                    exception, f"x and y have lengths {left.length} and {right.length}"
                )
    if name in ("split", "hsplit", "vsplit") and len(call.args) > 1:
        parts = call.integer(1)
        if (
            parts is not None
            and array.length is not None
            and name == "split"
            and "axis" not in call.kwargs
        ) and (parts == 0 or array.length % parts):
            raise ViolationError("ValueError", "an array is split in parts of other sizes")


def _take(call: Call) -> Value:
    return array_methods.take(call)


FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"numpy.{name}": general for name in FOLDABLE},
    **{f"numpy.{name}": unary for name in (*FLOATING, *SAME, *TESTS)},
    **{f"numpy.{name}": pair for name in PAIRS},
    **{f"numpy.{name}": reduce for name in REDUCING},
    **{
        f"numpy.{name}": join
        for name in ("concatenate", "stack", "vstack", "hstack", "column_stack", "dstack")
    },
    "numpy.where": where,
    "numpy.tile": repeat,
    "numpy.repeat": repeat,
    "numpy.meshgrid": mesh,
    "numpy.take": _take,
}
