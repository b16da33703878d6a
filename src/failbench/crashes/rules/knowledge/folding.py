"""From values to constants of Python and numpy, and back."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from failbench.crashes.rules.knowledge.values import (
    FOLDED,
    Array,
    Data,
    Known,
    Mapping,
    Sequence,
    Symbol,
    Thing,
    Unknown,
    Value,
)

LONGEST: Final = 2_000
"""Elements of a sequence that are kept one by one."""


class NotConcreteError(Exception):
    """A value is not known as a whole."""


def concrete(value: Value | None, series: bool = False) -> Any:
    """The constant that a value is known to be.

    Parameters
    ----------
    series
        Whether the values of a series or index will do for it.

    Raises
    ------
    NotConcreteError
        If it is not known as a whole, or is not made of numbers, texts and containers of them.
    """
    if isinstance(value, Known):
        return value.data
    if isinstance(value, Array) and value.data is not None:
        if value.home in ("numpy", "python") or series:
            return value.data[()] if value.data.ndim == 0 else value.data
        raise NotConcreteError
    if isinstance(value, Sequence) and value.items is not None:
        items = [concrete(item, series) for item in value.items]
        if value.kind == "tuple":
            return tuple(items)
        if value.kind in ("set", "frozenset"):
            return set(items)
        return items
    if isinstance(value, Mapping) and value.is_complete:
        return {key: concrete(item, series) for key, item in value.items.items()}
    if isinstance(value, Symbol):
        constant = CONSTANTS.get(value.path)
        if constant is not None:
            return constant
    raise NotConcreteError


CONSTANTS: Final[dict[str, Any]] = {
    "numpy.nan": float("nan"),
    "numpy.inf": float("inf"),
    "numpy.pi": float(np.pi),
    "numpy.e": float(np.e),
    "math.pi": float(np.pi),
    "math.e": float(np.e),
    "math.nan": float("nan"),
    "math.inf": float("inf"),
    "torch.nan": float("nan"),
    "torch.inf": float("inf"),
    "torch.pi": float(np.pi),
    **{
        f"numpy.{name}": np.dtype(name)
        for name in (
            "float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16",
            "uint32", "uint64", "complex64", "complex128",
        )
    },
    "numpy.bool": np.dtype(bool),
    "numpy.bool_": np.dtype(bool),
    "numpy.str_": np.dtype(str),
    "numpy.object_": np.dtype(object),
    "numpy.intp": np.dtype("int64"),
    "numpy.double": np.dtype("float64"),
    "numpy.single": np.dtype("float32"),
    "builtins.float": np.dtype("float64"),
    "builtins.int": np.dtype("int64"),
    "builtins.bool": np.dtype(bool),
    "builtins.str": np.dtype(str),
    "builtins.object": np.dtype(object),
}  # fmt: skip
"""Symbols that stand for a constant; types stand for the dtype that they are taken for."""


def is_plain(data: Any) -> bool:
    """Whether a constant is a number, text or None of Python."""
    return data is None or type(data) in (int, float, complex, str, bytes, bool, type(...), slice)


def lift(data: Any, home: str = "numpy") -> Value:
    """The value that stands for a constant."""
    if is_plain(data):
        return Known(data)
    if isinstance(data, np.ndarray):
        return of_data(data, home)
    if isinstance(data, np.generic):
        return of_data(np.asarray(data), home)
    if isinstance(data, np.dtype):
        return Thing("numpy.dtype", {"dtype": dtype_name(data)})
    if isinstance(data, (list, tuple, set, frozenset, range)):
        if len(data) > LONGEST:
            sample = lift(data[0]) if isinstance(data, (list, tuple)) else Unknown()
            if isinstance(data, range):
                sample = Array(
                    "python", (), "int64", low=min(data[0], data[-1]), high=max(data[0], data[-1])
                )
                sample.is_attained = False
            return Sequence(type(data).__name__, None, len(data), sample)
        ordered = sorted(data, key=repr) if isinstance(data, (set, frozenset)) else data
        return Sequence(type(data).__name__, [lift(each, home) for each in ordered])
    if isinstance(data, dict):
        return Mapping({key: lift(each, home) for key, each in data.items()})
    return Unknown()


def dtype_name(dtype: Any) -> str | None:
    """The name of a dtype of numpy as rules use it."""
    try:
        dtype = np.dtype(dtype)
    except TypeError:
        return None
    if dtype.kind == "U":
        return "str"
    if dtype.kind in "Mm":
        return "datetime64" if dtype.kind == "M" else "timedelta64"
    if dtype.fields:
        return "void"
    return "object" if dtype.kind == "O" else str(dtype)


def of_data(data: Data, home: str = "numpy", dtype: str | None = None) -> Array:
    """An array of which the values are known; those of a large one are not kept."""
    array = Array(home, data.shape, dtype or dtype_name(data.dtype))
    if data.dtype.fields:
        array.fields = tuple(data.dtype.names or ())
    if data.size <= FOLDED:
        array.data = data
    elif data.dtype.kind in "iufb":
        array.low, array.high, array.is_attained = float(data.min()), float(data.max()), True
        array.nan = bool(data.dtype.kind == "f" and np.isnan(data).any())
    return array


def key_of(value: Value) -> Hashable:
    """The constant that is looked up with a value.

    Raises
    ------
    NotConcreteError
        If it is not known, or cannot be a key.
    """
    key = concrete(value)
    if isinstance(key, np.generic):
        key = key.item()
    try:
        hash(key)
    except TypeError as error:
        raise NotConcreteError from error
    return key  # type: ignore[no-any-return]
