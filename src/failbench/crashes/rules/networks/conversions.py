"""Tensors in another type, on another device, or as arrays."""

from __future__ import annotations

import numpy as np

from failbench.crashes.rules.arrays import shaping
from failbench.crashes.rules.knowledge.devices import check_there, device_of
from failbench.crashes.rules.knowledge.dtypes import TORCH, named
from failbench.crashes.rules.knowledge.shapes import derived, of_graph
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def _copied(tensor: Array) -> Array:
    """The same content, also of what a result does not keep otherwise."""
    made = derived(tensor, tensor.shape, keep=True)
    made.is_attained, made.uniques, made.distinct = (
        tensor.is_attained,
        tensor.uniques,
        tensor.distinct,
    )
    made.nan, made.inf, made.data, made.is_contiguous = (
        tensor.nan,
        tensor.inf,
        tensor.data,
        tensor.is_contiguous,
    )
    return made


def to(call: Call, tensor: Array) -> Value:
    """On another device, or in another type."""
    made = _copied(tensor)
    values = [*call.args, *call.kwargs.values()]
    if call.name in ("cuda", "cpu", "xpu"):
        values = [Known(call.name)]
    for value in values:
        dtype = named(value) if not isinstance(value, Known) else None
        if dtype is not None:
            _cast(made, dtype)
            continue
        if isinstance(value, Array):
            made.device = value.device
            continue
        if isinstance(value, Known) and isinstance(value.data, bool):
            continue
        device = device_of(value)
        check_there(device)
        if device is None:
            made.device = None
        elif tensor.device == "meta" and device != "meta":
            raise ViolationError("NotImplementedError", "Cannot copy out of meta tensor; no data!")
        else:
            made.device = device
    return of_graph(made, tensor)


def _cast(made: Array, dtype: str) -> None:
    if made.data is not None and dtype != "bfloat16":
        with np.errstate(all="ignore"):
            made.data = made.data.astype(dtype)
    made.dtype = dtype
    if dtype.startswith(("int", "uint", "bool")):
        made.needs_grad, made.graph = False, ()
        if dtype.startswith("int") and made.low is not None and made.high is not None:
            made.low, made.high = float(int(made.low)), float(int(made.high))
        made.nan = False


def cast(call: Call, tensor: Array) -> Value:
    """In the type that the name of the method says."""
    made = _copied(tensor)
    dtype = TORCH.get(call.name) if call.name != "type" else named(call.first())
    if dtype is not None:
        _cast(made, dtype)
    else:
        made.dtype = None
    return of_graph(made, tensor)


def detached(call: Call, tensor: Array) -> Value:
    """Without a graph, or a copy."""
    made = shaping.of_shape(tensor, tensor.shape)
    made.is_contiguous = True if call.name in ("clone", "contiguous") else tensor.is_contiguous
    if call.name == "contiguous" and tensor.is_contiguous:
        return tensor
    if call.name == "detach":
        made.needs_grad, made.graph, made.is_leaf = False, (), True
    return made


def numpy(call: Call, tensor: Array) -> Value:
    """As an array of numpy.

    Raises
    ------
    ViolationError
        If it requires a gradient, has no data, or a type that numpy has not.
    """
    if tensor.needs_grad and not call.flag(None, "force"):
        raise ViolationError("RuntimeError", "Can't call numpy() on Tensor that requires grad.")
    if tensor.device == "meta":
        raise ViolationError("TypeError", "can't convert meta device type tensor to numpy.")
    if tensor.dtype == "bfloat16":
        raise ViolationError("TypeError", "Got unsupported ScalarType BFloat16")
    made = shaping.of_shape(tensor, tensor.shape)
    made.home, made.needs_grad, made.graph, made.device = "numpy", False, (), "cpu"
    return made
