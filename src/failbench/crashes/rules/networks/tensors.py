"""Functions of torch that make tensors."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.crashes.rules.arrays.creation import shape_of
from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge.dtypes import promoted
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.shapes import (
    concatenated,
    derived,
    of_graph,
    product,
    stacked,
)
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    FOLDED,
    Array,
    Frame,
    Known,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.networks.placement import device, placed, sizes_of
from failbench.crashes.rules.networks.tensor_data import as_tensor, from_numpy, tensor


def filled(call: Call) -> Value:
    """Zeros, ones, random numbers and others in a shape."""
    shape = sizes_of(call) if call.name != "full" else shape_of(call.arg(0, "size"))
    if shape is not None and any(size is not None and size < 0 for size in shape):
        raise ViolationError("RuntimeError", "sizes are not negative")
    dtype: str | None = "float32"
    value: float | None = {"zeros": 0.0, "ones": 1.0}.get(call.name)
    if call.name == "full":
        value = call.number(1, "fill_value")
        given = call.arg(1, "fill_value")
        dtype = "int64" if isinstance(given, Known) and type(given.data) is int else "float32"
    made = placed(call, shape, dtype)
    if value is not None:
        made.low = made.high = value
        size = product(shape) if shape is not None else None
        if size is not None and size <= FOLDED and made.dtype and made.device == "cpu":
            made.data = np.full(
                [each or 0 for each in shape or ()],
                value,
                made.dtype if made.dtype != "bfloat16" else "float32",
            )
    else:
        made.nan, made.inf = (False, False) if call.name != "empty" else (None, None)
        if call.name == "rand":
            made.low, made.high = 0.0, 1.0
    return made


def like(call: Call) -> Value:
    """As :func:`filled`, in the shape of another tensor."""
    source = call.first()
    if not isinstance(source, Array):
        return Unknown()
    made = placed(call, source.shape, source.dtype)
    made.device = source.device if "device" not in call.kwargs else made.device
    return made


def ranged(call: Call) -> Value:
    """Numbers in a row."""
    if call.name == "linspace":
        steps = call.integer(2, "steps")
        if steps is not None and steps < 0:
            raise ViolationError("RuntimeError", "number of steps must be non-negative")
        return placed(call, (steps,), "float32")
    try:
        ends = [concrete(each) for each in call.args]
        data = np.arange(*ends) if ends and all(abs(each) < 1e6 for each in ends) else None
    except (NotConcreteError, TypeError, ZeroDivisionError):
        data = None
    if data is None:
        return placed(call, (None,), None)
    made = placed(call, data.shape, "float32" if data.dtype.kind == "f" else "int64")
    if made.device == "cpu" and data.size <= FOLDED and made.dtype:
        made.data = data.astype(made.dtype)
    return made


def whole(call: Call) -> Value:
    """Random whole numbers."""
    numbers = [each for each in call.args if not isinstance(each, Sequence)]
    sizes = [each for each in call.args if isinstance(each, Sequence)]
    low, high = call.number(None, "low", default=0.0), call.number(None, "high")
    try:
        known = [float(concrete(each)) for each in numbers]
        low, high = (
            (0.0, known[0])
            if len(known) == 1
            else (known[0], known[1])
            if len(known) > 1
            else (low, high)
        )
    except (NotConcreteError, TypeError):
        low = high = None
    if low is not None and high is not None and low >= high:
        raise ViolationError(
            "RuntimeError", f"random_ expects 'from' to be less than 'to', but got {low} >= {high}"
        )
    shape = (
        shape_of(sizes[0])
        if sizes
        else shape_of(call.kwargs["size"])
        if "size" in call.kwargs
        else None
    )
    made = placed(call, shape, "int64")
    made.low, made.high = low, None if high is None else high - 1
    return made


def permuted(call: Call) -> Value:
    """Whole numbers in random order."""
    size = call.integer(0, "n")
    made = placed(call, (size,), "int64")
    made.low, made.high, made.is_unique = 0, None if size is None else size - 1, True
    made.is_attained = bool(size)
    return made


def normal(call: Call) -> Value:
    """Random numbers of a normal distribution."""
    size = call.arg(2, "size")
    if size is not None:
        return placed(call, shape_of(size), "float32")
    first = call.first()
    return derived(first, first.shape) if isinstance(first, Array) else Unknown()


def eye(call: Call) -> Value:
    """Ones on the diagonal."""
    rows = call.integer(0, "n")
    return placed(call, (rows, call.integer(1, "m", default=rows)), "float32")


def join(call: Call) -> Value:
    """Tensors after one another, or on a new axis.

    Raises
    ------
    ViolationError
        If they do not fit, or are no tensors.
    """
    value = call.arg(0, "tensors")
    items = iteration.elements(value) if value is not None else None
    if items is None:
        return Unknown()
    if not items:
        wrong = "ValueError" if call.name == "cat" else "RuntimeError"
        raise ViolationError(wrong, "a list of tensors is empty")
    for each in items:
        if isinstance(each, (Known, Sequence, Frame)) or (
            isinstance(each, Array) and each.home != "torch"
        ):
            raise ViolationError("TypeError", "only tensors are put together")
    arrays = [each for each in items if isinstance(each, Array)]
    if len(arrays) < len(items):
        return Array("torch", device=None, needs_grad=None)
    axis = call.integer(1, "dim", "axis", default=0)
    devices = {array.device for array in arrays}
    if len(devices) > 1 and None not in devices:
        raise ViolationError("RuntimeError", "tensors are on other devices")
    put = stacked if call.name == "stack" else concatenated
    shape = None if call.name in ("vstack", "hstack") else put(arrays, axis, "RuntimeError")
    dtype = arrays[0].dtype
    for array in arrays[1:]:
        dtype = promoted(dtype, array.dtype)
    made = derived(arrays[0], shape, dtype)
    made.dtype, made.is_contiguous = dtype, True
    return of_graph(made, *arrays)


def unavailable(_call: Call) -> Value:
    """What asks an accelerator that is not there."""
    raise ViolationError("AssertionError", "there is no accelerator")


def availability(call: Call) -> Value:
    """Whether there is an accelerator; notebooks are executed without one."""
    return Known(0 if call.name == "device_count" else False)


FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"torch.{name}": filled for name in ("zeros", "ones", "empty", "full", "rand", "randn")},
    **{
        f"torch.{name}": like
        for name in (
            "zeros_like",
            "ones_like",
            "rand_like",
            "randn_like",
            "empty_like",
            "full_like",
        )
    },
    "torch.tensor": tensor,
    "torch.as_tensor": as_tensor,
    "torch.asarray": as_tensor,
    "torch.from_numpy": from_numpy,
    "torch.arange": ranged,
    "torch.linspace": ranged,
    "torch.randint": whole,
    "torch.randperm": permuted,
    "torch.normal": normal,
    "torch.eye": eye,
    **{f"torch.{name}": join for name in ("cat", "concat", "stack", "vstack", "hstack")},
    "torch.device": device,
    **{f"torch.cuda.{name}": availability for name in ("is_available", "device_count")},
    "torch.backends.mps.is_available": availability,
    **{
        f"torch.cuda.{name}": unavailable
        for name in (
            "current_device",
            "get_device_name",
            "synchronize",
            "set_device",
            "get_device_properties",
            "get_device_capability",
        )
    },
}
