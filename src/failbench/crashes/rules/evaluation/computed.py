"""Operators that are computed where all is known."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.knowledge.folding import lift
from failbench.crashes.rules.knowledge.values import Function, Known, Mapping, Sequence, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "MatMult": operator.matmul,
}

UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Invert": operator.invert,
}

COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}

BITWISE: Final = ("BitAnd", "BitOr", "BitXor", "LShift", "RShift")
ORDERING: Final = ("Lt", "LtE", "Gt", "GtE")


def folded(function: Callable[..., Any], *args: Any, home: str = "numpy") -> Value:
    """The result of a function of constants, or the exception that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = function(*args)
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise ViolationError(type(error).__name__, reason) from error
    return lift(result, home)


def is_small(*args: Any) -> bool:
    """Whether constants are small enough to compute with."""
    for each in args:
        if isinstance(each, int) and abs(each) > 10**18:
            return False
        if isinstance(each, (str, bytes, list, tuple)) and len(each) > 10_000:
            return False
    return True


def kind_of(value: Value) -> str | None:
    """The class of a value of Python itself, as far as operators tell them apart."""
    if isinstance(value, Sequence) and value.kind in ("list", "tuple", "set", "range"):
        return value.kind
    if isinstance(value, Mapping):
        return "dict" if value.kind == "dict" else None
    if isinstance(value, Known):
        return type(value.data).__name__
    return "function" if isinstance(value, Function) else None
