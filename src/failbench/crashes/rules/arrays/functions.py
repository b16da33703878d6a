"""Functions of numpy of arrays."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.arrays import methods as array_methods
from failbench.crashes.rules.arrays.creation import of_frame
from failbench.crashes.rules.evaluation import iteration, operators
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.shapes import (
    axis_of,
    broadcast,
    broadcast_shapes,
    concatenated,
    derived,
    product,
    stacked,
)
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    FOLDED,
    Array,
    Frame,
    Known,
    Sequence,
    Shape,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError

FLOATING: Final = (
    "sqrt", "log", "log2", "log10", "log1p", "exp", "expm1", "exp2", "sin", "cos", "tan", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "cbrt", "deg2rad", "rad2deg", "radians", "degrees",
)  # fmt: skip
SAME: Final = ("abs", "absolute", "fabs", "negative", "sign", "floor", "ceil", "rint", "square",
    "nan_to_num", "round", "around", "trunc", "conj", "real", "positive")  # fmt: skip
TESTS: Final = ("isnan", "isfinite", "isinf", "signbit", "logical_not")
PAIRS: Final = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "hypot", "arctan2",
    "mod", "fmod", "floor_divide", "true_divide", "fmax", "fmin", "logaddexp", "logical_and",
    "logical_or", "greater", "less", "equal", "not_equal", "bitwise_and", "bitwise_or",
)  # fmt: skip
OPERATORS: Final = {
    "add": "Add", "subtract": "Sub", "multiply": "Mult", "divide": "Div", "power": "Pow",
    "true_divide": "Div", "bitwise_and": "BitAnd", "bitwise_or": "BitOr", "mod": "Mod",
}  # fmt: skip

FOLDABLE: Final = (
    "unique", "bincount", "flatnonzero", "nonzero", "argwhere", "diff", "gradient", "histogram",
    "digitize", "searchsorted", "percentile", "quantile", "interp", "convolve", "correlate",
    "corrcoef", "cov", "outer", "triu", "tril", "trace", "roll", "flip", "fliplr", "flipud",
    "rot90", "isin", "isclose", "allclose", "array_equal", "count_nonzero", "ediff1d", "polyfit",
    "polyval", "intersect1d", "union1d", "setdiff1d", "select", "piecewise", "insert", "append",
    "delete", "split", "array_split", "hsplit", "vsplit", "average", "cross", "kron", "take",
    "put_along_axis", "take_along_axis", "lexsort", "partition", "argpartition", "unravel_index",
    "ravel_multi_index", "pad", "moveaxis", "rollaxis", "can_cast", "result_type", "triu_indices",
    "tril_indices", "diag", "diagonal", "ptp", "nanmean", "nanstd", "nansum", "nanmax", "nanmin",
    "nanmedian", "nanpercentile", "nanargmax", "nanargmin", "apply_along_axis", "compress",
    "trapezoid", "datetime64", "timedelta64", "vander", "broadcast_shapes", "stack",
    "concatenate", "vstack", "hstack", "column_stack", "dstack", "where", "tile", "repeat", "clip",
)  # fmt: skip
"""Functions that are computed if all that they are given is known and small."""

REDUCING: Final = (
    "sum", "mean", "std", "var", "min", "max", "amin", "amax", "prod", "median", "argmax",
    "argmin", "any", "all", "ptp", "nanmean", "nanstd", "nanvar", "nansum", "nanmax", "nanmin",
    "nanmedian", "nanargmax", "nanargmin", "average", "percentile", "quantile", "nanpercentile",
    "count_nonzero", "cumsum", "cumprod",
)  # fmt: skip

LARGEST: Final = 4
"""How many times larger than its arguments a computed result may be."""


def folded(call: Call) -> Value | None:
    """The result if all arguments are known, and small."""
    try:
        args = [_data(each) for each in call.args]
        kwargs = {key: _data(value) for key, value in call.kwargs.items()}
    except NotConcreteError:
        return None
    given = [*args, *kwargs.values()]
    if not call.is_complete or not operators.is_small(*given):
        return None
    if any(isinstance(each, np.ndarray) and each.size > FOLDED // LARGEST for each in given):
        return None
    if call.name in (
        "tile",
        "repeat",
        "kron",
        "outer",
        "pad",
        "vander",
        "triu_indices",
        "tril_indices",
    ):
        total = math.prod(max(_extent(each), 1) for each in args)
        if total > FOLDED:
            return None
    if call.name in ("triu_indices", "tril_indices", "bincount", "histogram", "broadcast_shapes"):
        if any(isinstance(each, (int, np.integer)) and each > 1000 for each in given):
            return None
        if call.name == "bincount" and any(_extreme(each) > 100_000 for each in given):
            return None
    if call.name in ("apply_along_axis", "piecewise"):
        return None
    function: Any = getattr(np, call.name, None)
    return None if function is None else operators.folded(lambda: function(*args, **kwargs))


def _data(value: Value) -> Any:
    data = concrete(value)
    if isinstance(data, (set, dict)):
        raise NotConcreteError
    return data


def _extent(data: Any) -> int:
    if isinstance(data, (int, np.integer)):
        return abs(int(data))
    if isinstance(data, (tuple, list)):
        return math.prod(max(_extent(each), 1) for each in data)
    return int(np.size(data))


def _extreme(data: Any) -> float:
    array = np.asarray(data)
    return float(np.max(np.abs(array), initial=0)) if array.dtype.kind in "iuf" else 0.0


def first_array(call: Call) -> Array | None:
    """The array that a function is given."""
    value = call.first() if call.args else call.kwargs.get("a", Unknown())
    return of_frame(value) if isinstance(value, Frame) else operators.as_array(value)


def check_numbers(array: Array, what: str, exception: str = "TypeError") -> None:
    """Refuse text where numbers are due.

    Raises
    ------
    ViolationError
        If the array holds text.
    """
    if array.dtype == "str" or array.element_types == ("str",):
        raise ViolationError(exception, f"{what} is of numbers, not of {array.dtype}")


def unary(call: Call) -> Value:
    """A function of each element."""
    value = call.first()
    array = first_array(call)
    if array is None:
        if isinstance(value, Known) and value.data is None:
            raise ViolationError("TypeError", f"{call.name} is of numbers")
        return Unknown()
    kind = facts.kind(array)
    if array.dtype == "str":
        exception = (
            "TypeError"
            if call.name in TESTS or array.home in ("series", "index")
            else "UFuncTypeError"
        )
        raise ViolationError(exception, f"{call.name} is of numbers, not of text")
    if (
        kind == "O"
        and call.name in (*TESTS, *FLOATING)
        and (array.element_types in (("str",),) or call.name in TESTS)
    ):
        raise ViolationError("TypeError", f"{call.name} is not there for objects")
    if kind == "b" and call.name in ("negative", "positive"):
        raise ViolationError(
            "UFuncTypeError" if array.home == "numpy" else "TypeError", "a minus of truth values"
        )
    dtype = "bool" if call.name in TESTS else None
    if call.name in FLOATING:
        dtype = "float32" if array.dtype == "float32" else "float64"
    if isinstance(value, Frame):
        columns = {k: derived(c, c.shape, dtype) for k, c in (value.columns or {}).items()}
        return Frame(
            columns if value.columns is not None else None,
            value.is_complete,
            value.rows,
            value.labels,
        )
    made = derived(array, array.shape, dtype)
    made.labels = array.labels
    if (
        array.data is not None
        and array.data.dtype.kind in "biufc"
        and not call.kwargs
        and len(call.args) < 3
    ):
        try:
            rest = [concrete(each) for each in call.args[1:]]
            result = operators.folded(getattr(np, call.name), array.data, *rest)
        except (NotConcreteError, ViolationError):
            return made
        if isinstance(result, Array):
            made.data, made.dtype = result.data, result.dtype
            return made
        return of_data(np.asarray(result.data)) if isinstance(result, Known) else made
    _bounded(call.name, array, made)
    return made


def _bounded(name: str, array: Array, made: Array) -> None:
    low, high, is_attained = facts.bounds(array)
    nan = facts.has_nan(array)
    made.nan = nan if name in SAME or nan else None
    if name == "nan_to_num":
        made.nan, made.inf = False, False
        return
    monotone = {
        "sqrt",
        "log",
        "log2",
        "log10",
        "log1p",
        "exp",
        "floor",
        "ceil",
        "round",
        "rint",
        "around",
    }
    if low is None or high is None or name not in monotone:
        return
    function: Any = getattr(np, name)
    with np.errstate(all="ignore"):
        ends = float(function(low)), float(function(high))
    if is_attained and any(math.isnan(end) for end in ends):
        made.nan = True
    if (
        is_attained
        and any(math.isinf(end) for end in ends)
        and all(math.isfinite(e) for e in (low, high))
    ):
        made.inf = True
    if not any(math.isnan(end) for end in ends):
        made.low, made.high, made.is_attained = *ends, is_attained
        if nan is False:
            made.nan = False


def pair(call: Call) -> Value:
    """A function of elements of two arrays."""
    if len(call.args) >= 2 and call.name in OPERATORS:
        given = [operators.as_array(each) or each for each in call.args[:2]]
        return operators.binary(OPERATORS[call.name], given[0], given[1], call.state)
    known = folded(call)
    if known is not None:
        return known
    arrays = [operators.as_array(each) for each in call.args[:2]]
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
        q = operators.as_array(call.args[1]) if len(call.args) > 1 else None
        made = array_methods.reduced_array(call, array, 2, "median")
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
    return array_methods.reduced_array(call, array, 1, call.name.removeprefix("nan"))


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
    taken = operators.as_array(weights) if weights is not None else None
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


def join(call: Call) -> Value:
    """Concatenation and stacking."""
    known = folded(call)
    if known is not None:
        return known
    items = iteration.elements(call.first())
    if items is None:
        return Array("numpy", None, None)
    arrays = [of_frame(e) if isinstance(e, Frame) else operators.as_array(e) for e in items]
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


def where(call: Call) -> Value:
    """A choice by a mask."""
    known = folded(call)
    if known is not None:
        return known
    arrays = [operators.as_array(each) for each in call.args]
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
    arrays = [operators.as_array(each) for each in call.args]
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
        other = operators.as_array(call.args[1])
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
        other = operators.as_array(call.args[1])
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
            left, right = (operators.as_array(call.args[place]) for place in pairs[name])
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
