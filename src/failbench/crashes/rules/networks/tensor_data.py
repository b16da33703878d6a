"""Tensors that are made of given data."""

from __future__ import annotations

import warnings

import numpy as np

from failbench.crashes.rules.evaluation import operands
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    FOLDED,
    Array,
    Frame,
    Known,
    Mapping,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.networks.placement import placed


def tensor(call: Call) -> Value:
    """A tensor of what is given.

    Raises
    ------
    ViolationError
        If it is text, objects, None, or rows of other lengths.
    """
    value = call.arg(0, "data")
    if isinstance(value, Frame):
        raise ViolationError(
            "ValueError", "could not determine the shape of object type 'DataFrame'"
        )
    if isinstance(value, Array):
        return _of_array(call, value)
    if isinstance(value, Mapping):
        raise ViolationError("RuntimeError", "Could not infer dtype of dict")
    if (
        isinstance(value, Sequence)
        and value.items
        and any(
            isinstance(e, Array) and e.home == "torch" and (e.size or 1) > 1 for e in value.items
        )
    ):
        raise ViolationError(
            "ValueError", "only one element tensors can be converted to Python scalars"
        )
    try:
        data = concrete(value)
    except NotConcreteError:
        taken = operands.as_array(value) if value is not None else None
        return placed(call, None if taken is None else taken.shape, None)
    if data is None or (isinstance(data, list) and None in data):
        raise ViolationError("RuntimeError", "Could not infer dtype of NoneType")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = np.asarray(data)
    except (ValueError, OverflowError) as error:
        raise ViolationError("ValueError", str(error)) from error
    if array.dtype.kind in "US":
        raise ViolationError(
            "TypeError" if isinstance(data, str) else "ValueError", "too many dimensions 'str'"
        )
    if array.dtype == object:
        raise ViolationError("RuntimeError", "Could not infer dtype of object")
    dtype = {"f": "float32", "i": "int64", "u": "int64", "b": "bool", "c": "complex64"}.get(
        array.dtype.kind
    )
    if isinstance(data, np.ndarray) or (
        isinstance(data, list) and data and isinstance(data[0], np.ndarray)
    ):
        dtype = str(array.dtype)
    made = placed(call, array.shape, dtype)
    if (
        made.device == "cpu"
        and made.dtype is not None
        and array.size <= FOLDED
        and made.dtype != "bfloat16"
    ):
        made.data = array.astype(made.dtype)
    return made


def _of_array(call: Call, value: Array) -> Value:
    if value.home in ("series", "index") and value.dtype in ("str", "object", "category"):
        raise ViolationError(
            "ValueError" if value.dtype == "str" else "TypeError", "too many dimensions 'str'"
        )
    if value.home == "series" and value.labels is not None and value.labels.data is not None:
        known = value.labels.data.tolist()
        if known and 0 not in known and facts.kind(value.labels) in ("i", "u"):
            raise ViolationError(
                "ValueError", "could not determine the shape of object type 'Series'"
            )
    if value.home == "numpy" and value.dtype in ("str", "object", "datetime64"):
        raise ViolationError("TypeError", f"can't convert np.ndarray of type {value.dtype}")
    made = placed(call, value.shape, value.dtype)
    _carry(value, made)
    return made


def _carry(value: Array, made: Array) -> None:
    low, high, attained = facts.bounds(value)
    made.low, made.high, made.is_attained = low, high, attained
    made.nan, made.inf, made.uniques, made.distinct = (
        facts.has_nan(value),
        facts.has_inf(value),
        value.uniques,
        value.distinct,
    )
    same = value.data is not None and made.dtype is not None and value.data.dtype.kind in "biuf"
    if same and made.device == "cpu" and made.dtype != "bfloat16" and value.data is not None:
        with np.errstate(all="ignore"):
            made.data = value.data.astype(made.dtype)


def from_numpy(call: Call) -> Value:
    """A tensor that shares memory with an array."""
    value = call.first()
    if isinstance(value, (Frame, Sequence, Known, Mapping)) or (
        isinstance(value, Array) and value.home != "numpy"
    ):
        raise ViolationError("TypeError", "expected np.ndarray")
    if not isinstance(value, Array):
        return Unknown()
    if value.dtype in ("str", "object", "datetime64", "timedelta64"):
        raise ViolationError("TypeError", f"can't convert np.ndarray of type {value.dtype}")
    made = Array("torch", value.shape, value.dtype, is_contiguous=True)
    _carry(value, made)
    return made


def as_tensor(call: Call) -> Value:
    """A tensor of what is given, without a copy where that is possible."""
    value = call.arg(0, "data")
    if isinstance(value, Array) and value.home == "torch":
        return value
    return tensor(call)
