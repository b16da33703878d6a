"""Functions of Python that order and sum what they go through."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from failbench.crashes.rules.evaluation import arithmetic, computed, iteration
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, is_plain, lift
from failbench.crashes.rules.knowledge.shapes import derived
from failbench.crashes.rules.knowledge.state import Call, joined
from failbench.crashes.rules.knowledge.values import Array, Known, Mapping, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def ordered(call: Call) -> Value:
    """``sorted``: items in order, which must be comparable."""
    value = call.first()
    iteration.check_iterable(value)
    items = iteration.elements(value)
    if items is None or call.kwargs.get("key") is not None:
        if items is not None and call.kwargs.get("key") is not None:
            element = items[0] if items else Unknown()
            for each in items[1:]:
                element = joined(element, each)
            return Sequence("list", None, len(items), element)
        return Sequence("list", None, iteration.length(value))
    try:
        known = [concrete(item) for item in items]
        ordered = sorted(known, reverse=bool(call.flag(None, "reverse")))
        return Sequence("list", [lift(each) for each in ordered])
    except NotConcreteError:
        return Sequence("list", None, len(items))
    except TypeError as error:
        raise ViolationError("TypeError", str(error)) from error
    except ValueError:
        return Sequence("list", None, len(items))


def aggregated(call: Call) -> Value:
    """``sum``, ``min``, ``max``, ``any`` and ``all``."""
    values = call.args
    if len(values) == 1 or call.name in ("sum", "any", "all"):
        value = call.first()
        iteration.check_iterable(value)
        items = iteration.elements(value)
        if items is None:
            return Unknown()
        values = items
    if (
        not values
        and call.name in ("min", "max")
        and "default" not in call.kwargs
        and call.is_complete
    ):
        raise ViolationError("ValueError", f"{call.name} of nothing")
    if call.kwargs:
        return Unknown()
    functions: dict[str, Any] = {"sum": sum, "min": min, "max": max, "any": any, "all": all}
    try:
        known = [concrete(value) for value in values]
        if (
            all(is_plain(each) or isinstance(each, np.generic) for each in known)
            and len(call.args) != 2
        ):
            return computed.folded(functions[call.name], known)
    except NotConcreteError:
        pass
    if call.name == "sum" and len(call.args) == 1:
        total: Value = Known(0)
        for value in values:
            total = arithmetic.binary("Add", total, value, call.state)
        return total
    return Unknown()


def folded_items(call: Call) -> Value:
    """Functions of numbers and texts that are computed where all is known."""
    functions: dict[str, Any] = {
        "abs": abs,
        "round": round,
        "divmod": divmod,
        "pow": pow,
        "chr": chr,
        "ord": ord,
        "repr": repr,
        "hex": hex,
        "bin": bin,
    }
    value = call.first()
    if call.name in ("abs", "round") and isinstance(value, Array) and value.data is None:
        made = derived(value, value.shape)
        made.nan, made.inf = value.nan, value.inf
        return made
    if call.name == "abs" and isinstance(value, (Sequence, Mapping)):
        raise ViolationError("TypeError", "abs is of numbers")
    try:
        known = [concrete(each) for each in call.args]
    except NotConcreteError:
        return Unknown()
    if (
        not all(is_plain(each) or isinstance(each, np.generic) for each in known)
        or call.name == "pow"
    ):
        return Unknown()
    return computed.folded(functions[call.name], *known)


def mathematical(call: Call) -> Value:
    """Functions of ``math``."""
    value = call.first()
    if (
        isinstance(value, (Sequence, Mapping))
        or (isinstance(value, Known) and isinstance(value.data, str))
    ) and call.name not in ("fsum", "prod", "dist"):
        raise ViolationError("TypeError", f"{call.name} is of numbers")
    if (
        isinstance(value, Array)
        and value.size is not None
        and value.size > 1
        and call.name not in ("fsum", "prod", "dist")
    ):
        exception = "ValueError" if value.home == "torch" else "TypeError"
        raise ViolationError(exception, f"{call.name} is of one number")
    function = getattr(math, call.name, None)
    try:
        known = [concrete(each) for each in call.args]
    except NotConcreteError:
        return Unknown()
    is_number = all(
        isinstance(each, (int, float, np.number)) and abs(float(each)) < 1e6 for each in known
    )
    if not callable(function) or call.kwargs or not is_number:
        return Unknown()
    return computed.folded(function, *known)
