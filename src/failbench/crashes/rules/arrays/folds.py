"""Functions of numpy that are computed where all is known."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.arrays.casting import of_frame
from failbench.crashes.rules.evaluation import computed, operands
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import FOLDED, Array, Frame, Unknown, Value

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
    if not call.is_complete or not computed.is_small(*given):
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
    return None if function is None else computed.folded(lambda: function(*args, **kwargs))


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
    return of_frame(value) if isinstance(value, Frame) else operands.as_array(value)
