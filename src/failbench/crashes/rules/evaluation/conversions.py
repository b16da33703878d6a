"""Functions of Python that make values of one class of another."""

from __future__ import annotations

import math

from failbench.crashes.rules.evaluation import computed, iteration, operators
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, key_of, lift
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Function,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def _number(call: Call, kind: type) -> Value:
    if not call.args:
        return Known(kind())
    if call.kwargs:
        return Unknown()
    value = call.first()
    if isinstance(value, Known):
        if len(call.args) > 1:
            return Unknown()
        return computed.folded(kind, value.data)
    if isinstance(value, (Sequence, Mapping, Frame, Function)):
        raise ViolationError("TypeError", f"a {type(value).__name__.lower()} is no number")
    if isinstance(value, Array):
        _check_scalar(value)
        if value.data is not None and value.data.size == 1:
            return computed.folded(kind, value.data.ravel()[0])
        if kind is int and value.home != "series" and value.size == 1:
            if facts.has_nan(value) and (value.data is not None or value.size == 1):
                raise ViolationError("ValueError", "NaN is no whole number")
            if value.low is not None and value.low == value.high and math.isinf(value.low):
                raise ViolationError("OverflowError", "infinity is no whole number")
        made = Array(
            "python", (), "int64" if kind is int else "float64", low=value.low, high=value.high
        )
        made.nan = value.nan
        made.is_attained = value.is_attained and value.size == 1
        return made
    return Unknown()


def _check_scalar(value: Array) -> None:
    if value.home == "torch" and value.device == "meta":
        raise ViolationError("RuntimeError", "a tensor without data has no number")
    if value.home == "series" and value.length not in (None, 1):
        raise ViolationError("TypeError", "a series is no number")
    if value.size is not None and value.size != 1 and value.home != "series":
        if value.home == "torch":
            raise ViolationError("ValueError", f"{value.size} elements are no number")
        raise ViolationError("TypeError", f"{value.size} elements are no number")


def to_int(call: Call) -> Value:
    """``int``."""
    return _number(call, int)


def to_float(call: Call) -> Value:
    """``float``."""
    return _number(call, float)


def to_text(call: Call) -> Value:
    """``str``."""
    value = call.first() if call.args else Known("")
    if isinstance(value, Known):
        return Known(str(value.data))
    return Array("python", (), "str")


def to_bool(call: Call) -> Value:
    """``bool``."""
    is_true = operators.certain_truth(call.first()) if call.args else False
    return Unknown() if is_true is None else Known(is_true)


def to_container(call: Call) -> Value:
    """``list``, ``tuple``, ``set`` and ``frozenset``."""
    kind = call.name
    if not call.args:
        return Sequence(kind, [])
    value = call.first()
    iteration.check_iterable(value)
    items = iteration.elements(value)
    if items is None:
        element = iteration.element(value, call.state)
        return Sequence(
            kind, None, iteration.length(value) if kind in ("list", "tuple") else None, element
        )
    if kind in ("set", "frozenset"):
        try:
            return lift({key_of(item) for item in items})
        except NotConcreteError:
            return Sequence(kind)
    return Sequence(kind, list(items))


def to_dict(call: Call) -> Value:
    """``dict``."""
    mapping = Mapping(dict(call.kwargs), call.is_complete)
    if call.args:
        value = call.first()
        if isinstance(value, Mapping):
            mapping.items = value.items | mapping.items
            mapping.is_complete &= value.is_complete
            return mapping
        pairs = iteration.elements(value)
        if pairs is None:
            mapping.is_complete = False
            return mapping
        for pair in pairs:
            parts = iteration.elements(pair)
            if parts is not None and len(parts) != 2:
                raise ViolationError("ValueError", "a dict is made of pairs")
            try:
                if parts is None:
                    raise NotConcreteError
                mapping.items[key_of(parts[0])] = parts[1]
            except NotConcreteError:
                mapping.is_complete = False
    return mapping
