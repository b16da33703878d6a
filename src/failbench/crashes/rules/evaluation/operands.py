"""Values as the arrays that operators take, and types that they refuse."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from failbench.crashes.rules.evaluation.computed import BINARY, BITWISE, is_small
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete, of_data
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def as_array(value: Value) -> Array | None:
    """The array that a number or a sequence is taken for beside an array."""
    if isinstance(value, Array):
        return value
    try:
        data = concrete(value)
    except NotConcreteError:
        if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
            return _of_rows(value)
        return None
    if isinstance(data, (bool, int, float, complex, str)) and is_small(data):
        return of_data(np.asarray(data))
    if isinstance(data, (list, tuple)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return of_data(np.array(data))
        except (ValueError, OverflowError, TypeError):
            return None
    return None


def _of_rows(value: Sequence) -> Array | None:
    items = value.items
    if not items or not all(isinstance(each, (Array, Known)) for each in items):
        return (
            Array("numpy", None if value.size is None else (value.size,), None)
            if items and all(isinstance(e, Known) for e in items)
            else None
        )
    arrays = [as_array(each) for each in items]
    shapes = {None if each is None else each.shape for each in arrays}
    first = arrays[0]
    if len(shapes) != 1 or first is None or first.shape is None:
        return None
    dtypes = [each.dtype for each in arrays if each is not None]
    dtype = dtypes[0]
    for each in dtypes[1:]:
        dtype = promoted(dtype, each)
    return Array("numpy", (len(items), *first.shape), dtype)


def without_labels(array: Array) -> Array:
    """The values of an array, as numpy has them."""
    return (
        array
        if array.home in ("numpy", "python")
        else Array("numpy", array.shape, array.dtype, array.data)
    )


def main_of(left: Array, right: Array) -> Array:
    """The operand whose library decides what the operator does."""
    for home in ("torch", "series", "index", "numpy", "python"):
        for each in (left, right):
            if each.home == home:
                return each
    return left


def check_same_dtype(left: Array, right: Array) -> None:
    """Refuse a matrix product of tensors of two types."""
    if left.dtype and right.dtype and left.dtype != right.dtype:
        reason = f"a product of {left.dtype} and {right.dtype}"
        raise ViolationError("RuntimeError", f"tensors must have the same dtype: {reason}")


def aligned(left: Array, right: Array) -> Any:
    """The shape of an operation on series, which are aligned by their index."""
    if left.home == right.home == "series":
        return left.shape if left.shape == right.shape else None
    series, other = (left, right) if left.home == "series" else (right, left)
    if other.shape in ((), None):
        return series.shape
    if (
        other.rank == 1
        and series.shape is not None
        and other.length not in (series.length, None, 1)
        and series.length is not None
    ):
        reason = f"lengths {series.length} and {other.length} differ"
        raise ViolationError("ValueError", reason)
    return series.shape


def _texts(array: Array) -> bool:
    return array.dtype == "str" or (array.dtype == "object" and array.element_types == ("str",))


def check_types(name: str, left: Array, right: Array, main: Array) -> None:
    """Refuse operands whose types the operator does not take."""
    kinds = [facts.kind(left), facts.kind(right)]
    if None in kinds:
        return
    pair = "".join(each or "" for each in kinds)
    words = f"{name} between {left.dtype} and {right.dtype}"
    if name in BITWISE and "f" in pair and set(pair) <= set("biuf"):
        if main.home == "torch" and name in ("BitAnd", "BitOr", "BitXor"):
            raise ViolationError("NotImplementedError", words)
        raise ViolationError("TypeError", words)
    if name in BITWISE and (_texts(left) or _texts(right)) and main.home != "torch":
        raise ViolationError("TypeError", words)
    if name == "Sub" and pair == "bb" and main.home == "torch":
        raise ViolationError("RuntimeError", words)
    if (
        name == "Sub"
        and pair == "bb"
        and main.home == "numpy"
        and "python" not in (left.home, right.home)
    ):
        raise ViolationError("TypeError", words)
    if _texts(left) != _texts(right):
        other = right if _texts(left) else left
        if facts.kind(other) in ("O", "C", None):
            return
        if name == "Mult" and (facts.kind(other) or "") in "iub":
            return
        if main.home == "numpy" and "str" in (left.dtype, right.dtype):
            raise ViolationError("UFuncTypeError", words)
        raise ViolationError("TypeError", words)
    if _texts(left) and _texts(right) and name != "Add":
        if name == "Mod" and left.home == "python":
            return
        is_array = main.home == "numpy" and main.dtype == "str"
        raise ViolationError("UFuncTypeError" if is_array else "TypeError", words)
    if kinds[0] == "M" and kinds[1] == "M" and name != "Sub":
        raise ViolationError("UFuncTypeError" if main.home == "numpy" else "TypeError", words)
    if "M" in pair and set(pair) & set("fiub") and main.home in ("series", "index"):
        raise ViolationError("TypeError", words)
    if "C" in pair and name in BINARY:
        raise ViolationError("TypeError", f"categories have no {name}")


def check_order(_name: str, left: Array, right: Array, main: Array) -> None:
    """Refuse a comparison of values that have no order."""
    kinds = facts.kind(left), facts.kind(right)
    words = f"{left.dtype} and {right.dtype} have no order"
    if main.home == "torch" or None in kinds:
        return
    is_text = _texts(left), _texts(right)
    if is_text[0] != is_text[1]:
        other = facts.kind(right if is_text[0] else left)
        if other in ("M", "m", "C", "O"):
            return
        is_array = main.home == "numpy" and main.dtype == "str"
        raise ViolationError("UFuncTypeError" if is_array else "TypeError", words)
    if "M" in kinds and set(kinds) & set("fiub") and main.home in ("series", "index"):
        raise ViolationError("TypeError", words)
