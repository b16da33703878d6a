"""Devices and types of new tensors."""

from __future__ import annotations

from failbench.crashes.rules.arrays.creation import shape_of
from failbench.crashes.rules.knowledge import memory
from failbench.crashes.rules.knowledge.devices import check_there, device_of
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.shapes import product
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Shape, Thing, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def placed(call: Call, shape: Shape | None, dtype: str | None) -> Array:
    """A new tensor on the device, and with the type, that a call names.

    Raises
    ------
    ViolationError
        If the device is not there, the tensor too large, or a type has no gradient.
    """
    asked = call.kwargs.get("dtype")
    if asked is not None:
        dtype = named(asked)
    given = call.kwargs.get("device")
    is_none = given is None or (isinstance(given, Known) and given.data is None)
    device = "cpu" if is_none else device_of(given)
    check_there(device)
    if device != "meta":
        memory.check(None if shape is None else product(shape), dtype, is_torch=True)
    made = Array("torch", shape, dtype, device=device, is_contiguous=True)
    made.needs_grad = call.flag(None, "requires_grad")
    if made.needs_grad and dtype is not None and dtype.startswith(("int", "uint", "bool")):
        raise ViolationError(
            "RuntimeError", "Only Tensors of floating point and complex dtype can require gradients"
        )
    return made


def sizes_of(call: Call, start: int = 0) -> Shape | None:
    """The shape that the arguments from a place on name."""
    args = call.args[start:]
    if "size" in call.kwargs:
        return shape_of(call.kwargs["size"])
    if not call.is_complete:
        return None
    return shape_of(args[0] if len(args) == 1 else Sequence("tuple", list(args)))


def device(call: Call) -> Value:
    """A device by name."""
    known = device_of(call.arg(0, "type", "device"))
    if known is not None and call.integer(1, "index") is not None:
        known = f"{known}:{call.integer(1, 'index')}"
    return Thing("torch.device", {"device": known})
