"""What follows from the knowledge of an array: its kind, bounds, gaps and distinct values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from failbench.crashes.rules.knowledge.values import Array

KINDS = {
    "bool": "b",
    "str": "U",
    "object": "O",
    "datetime64": "M",
    "timedelta64": "m",
    "category": "C",
    "void": "V",
    "bfloat16": "f",
    "half": "f",
}


def kind(array: Array) -> str | None:
    """The kind of the dtype, one letter as numpy's, or ``C`` for categories; None if unknown."""
    dtype = array.dtype
    if dtype is None:
        return None
    if dtype in KINDS:
        return KINDS[dtype]
    for prefix, letter in (("float", "f"), ("int", "i"), ("uint", "u"), ("complex", "c")):
        if dtype.startswith(prefix):
            return letter
    for prefix, letter in (("Int", "i"), ("UInt", "u"), ("Float", "f"), ("boolean", "b")):
        if dtype.startswith(prefix):
            return letter
    return "M" if dtype.startswith("datetime64") else "m" if dtype.startswith("timedelta") else None


def is_number(array: Array) -> bool | None:
    """Whether it holds numbers or truth values."""
    known = kind(array)
    return None if known is None else known in "biufc"


def _numbers(array: Array) -> Any:
    if array.data is None or array.data.dtype.kind not in "biuf":
        return None
    return array.data


def has_nan(array: Array) -> bool | None:
    """Whether there is any NaN, NaT or None; None if that is not known."""
    if array.data is not None:
        data = array.data
        if data.dtype.kind in "fc":
            return bool(np.isnan(data).any())
        if data.dtype.kind in "Mm":
            return bool(np.isnat(data).any())
        if data.dtype.kind == "O":
            return any(each is None or each != each for each in data.ravel().tolist())
        return False
    if (
        array.nan is None
        and (kind(array) or "f") in "biu"
        and not (array.dtype or "I")[0].isupper()
    ):
        return False
    return array.nan


def has_inf(array: Array) -> bool | None:
    """Whether there is any infinity; None if that is not known."""
    data = _numbers(array)
    if data is not None:
        return bool(np.isinf(data).any()) if data.dtype.kind == "f" else False
    if array.inf is None and (kind(array) or "f") in "biuUM":
        return False
    return array.inf


def bounds(array: Array) -> tuple[float | None, float | None, bool]:
    """Lowest and highest value without NaN, and whether both occur."""
    data = _numbers(array)
    if data is not None:
        finite = data[~np.isnan(data)] if data.dtype.kind == "f" else data
        if finite.size == 0:
            return None, None, False
        return float(finite.min()), float(finite.max()), True
    return array.low, array.high, array.is_attained


def lowest(array: Array) -> float | None:
    """The lowest value, if it is known to occur."""
    low, _, is_attained = bounds(array)
    return low if is_attained else None


def highest(array: Array) -> float | None:
    """The highest value, if it is known to occur."""
    _, high, is_attained = bounds(array)
    return high if is_attained else None


def values_of(array: Array) -> tuple[Any, ...] | None:
    """The distinct values in rising order without gaps, if all are known."""
    if array.data is not None and array.data.dtype.kind in "biufUO":
        try:
            known = {each for each in array.data.ravel().tolist() if each == each}
            known.discard(None)
            return tuple(sorted(known))
        except TypeError:
            return None
    if array.uniques is None and array.is_attained and (kind(array) or "?") in "iu":
        low, high, count = array.low, array.high, array.distinct
        if low is not None and high is not None and count == high - low + 1 and count <= 1_000:
            return tuple(range(int(low), int(high) + 1))
    return array.uniques


def seen(array: Array) -> tuple[Any, ...]:
    """Values that are known to occur; there may be others."""
    return values_of(array) or ()


def distinct(array: Array) -> int | None:
    """How many distinct values there are."""
    known = values_of(array)
    return array.distinct if known is None else len(known)


def are_whole(array: Array) -> bool | None:
    """Whether all values are whole numbers; False is certain if a fraction is known to occur."""
    if (kind(array) or "?") in "iub":
        return True
    if kind(array) != "f":
        return None
    known = values_of(array)
    numbers = [each for each in known or () if isinstance(each, (int, float))]
    if any(math.isfinite(each) and each != int(each) for each in numbers):
        return False
    low, high, is_attained = bounds(array)
    ends = [each for each in (low, high) if is_attained and each is not None]
    if any(math.isfinite(each) and each != int(each) for each in ends):
        return False
    return True if known is not None else None


def repeats(array: Array) -> bool | None:
    """Whether a value occurs more than once; None if that is not known."""
    if array.data is not None:
        flat = array.data.ravel().tolist()
        try:
            return len(set(flat)) < len(flat)
        except TypeError:
            return None
    if array.is_unique is not None:
        return not array.is_unique
    if array.distinct is not None and array.size is not None and has_nan(array) is False:
        return array.distinct < array.size
    return None
