"""Values of series of pandas: reduced, counted, filled and mapped."""

from __future__ import annotations

import numpy as np

from failbench.crashes.rules.arrays import reductions
from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.frames.columns import column, given
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Function, Known, Mapping, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def reduced(call: Call) -> Value:
    """A number of all values."""
    array = column(call)
    if call.name in ("idxmax", "idxmin"):
        if array.size == 0:
            raise ViolationError("ValueError", f"{call.name} of nothing")
        return Unknown()
    if array.dtype in ("object", None) and array.element_types is None:
        return Unknown()
    return reductions.reduced_array(call, array, None, call.name)


def counted(call: Call) -> Value:
    """How often each value occurs."""
    array = column(call)
    known = facts.values_of(array)
    made = Array("series", (facts.distinct(array),), "int64", low=1)
    if known is not None:
        made.labels = Array("index", (len(known),), array.dtype, uniques=known)
        if call.name == "value_counts":
            made.labels.is_unique = True
    return made


def filled(call: Call) -> Value:
    """Without gaps.

    Raises
    ------
    ViolationError
        If what fills them is none of the categories.
    """
    array = column(call)
    made = derived(array, array.shape, keep=True)
    made.labels, made.categories = array.labels, array.categories
    value = call.arg(0, "value")
    if call.name == "fillna":
        made.nan = False
        if (
            array.categories is not None
            and isinstance(value, Known)
            and value.data not in array.categories
        ):
            raise ViolationError("TypeError", f"{value.data!r} is none of the categories")
        if (
            facts.kind(array) in ("i", "f")
            and isinstance(value, Known)
            and isinstance(value.data, str)
        ):
            raise ViolationError("TypeError", f"{value.data!r} is no value of {array.dtype}")
        made.low = made.high = None
    if facts.has_nan(array) is False:
        made.nan, made.data = False, array.data
    return given(call, made)


def gaps(call: Call) -> Value:
    """Where there are gaps."""
    array = column(call)
    made = Array("series", array.shape, "bool", labels=array.labels)
    nan = facts.has_nan(array)
    if nan is False and array.length:
        made.uniques = (call.name.startswith("not"),)
    return made


def mapped(call: Call) -> Value:
    """A function or mapping of each value."""
    array = column(call)
    function = call.arg(0, "arg", "func")
    made = Array("series", array.shape, labels=array.labels)
    if isinstance(function, Mapping) and function.is_complete:
        known = facts.values_of(array)
        made.nan = facts.has_nan(array) or None
        if known is not None:
            missing = [each for each in known if each not in function.items]
            made.nan = bool(missing) or facts.has_nan(array)
            targets = [function.items[each] for each in known if each in function.items]
            kinds = {type(each.data) for each in targets if isinstance(each, Known)}
            if len(targets) == len(known) and kinds == {int}:
                made.dtype = "int64"
                if array.data is not None and array.data.ndim == 1:
                    made.data = np.array([function.items[e].data for e in array.data.tolist()])  # type: ignore[attr-defined]
            elif kinds <= {int, float} and kinds and missing:
                made.dtype = "float64"
        return made
    is_plain = len(call.args) < 2 and not set(call.kwargs) - {"arg", "func"}
    if isinstance(function, Function) and array.length != 0 and is_plain:
        element = iteration.elements(array) or [iteration.element_of(array)]
        first = element[0]
        if array.dtype in ("str", "object") and array.data is not None and array.length:
            first = (
                Known(array.data.tolist()[0])
                if isinstance(array.data.tolist()[0], (str, int, float))
                else first
            )
        call.state.call(function, [first])
    return made


def unique(call: Call) -> Value:
    """The distinct values."""
    array = column(call)
    known = facts.values_of(array)
    if call.name == "nunique":
        count = facts.distinct(array)
        return Array("python", (), "int64") if count is None else Known(count)
    made = derived(
        array, (facts.distinct(array) if facts.has_nan(array) is False else None,), keep=True
    )
    made.home = "numpy"
    if (
        known is not None
        and facts.has_nan(array) is False
        and array.dtype not in ("str", "category")
    ):
        made.uniques = known
    if array.dtype in ("str", "category"):
        made.dtype = "object"
    return made
