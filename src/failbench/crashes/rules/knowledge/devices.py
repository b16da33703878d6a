"""Devices of tensors, on a machine that has no accelerator."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.knowledge.values import Array, Known, Thing, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

KINDS: Final = frozenset(
    {
        "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga",
        "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
    }
)  # fmt: skip
"""Kinds of devices in the documentation of ``torch.device``."""

MISSING: Final = {
    "cuda": "AssertionError",
    "xpu": "AssertionError",
    "mps": "RuntimeError",
    "hpu": "ModuleNotFoundError",
}
"""What a use of a device raises with a build for processors alone."""


def device_of(value: Value | None) -> str | None:
    """The device that an argument stands for; None if it is not known.

    Raises
    ------
    ViolationError
        If there is no device of that kind.
    """
    if isinstance(value, Thing) and value.path == "torch.device":
        known: str | None = value.facts.get("device")
        return known
    if isinstance(value, Known) and isinstance(value.data, str):
        kind = value.data.partition(":")[0]
        if kind not in KINDS:
            raise ViolationError("RuntimeError", f"{value.data!r} is no device")
        return value.data
    if isinstance(value, Known) and type(value.data) is int:
        return "cuda"
    return None


def check_there(device: str | None) -> None:
    """Refuse a device that the machine does not have.

    Raises
    ------
    ViolationError
        If it is an accelerator: notebooks are executed without one.
    """
    kind = (device or "").partition(":")[0]
    if kind in MISSING:
        raise ViolationError(MISSING[kind], f"there is no device {device}")


def check_same_device(left: Array, right: Array) -> None:
    """Refuse an operation between tensors with data and tensors without.

    Raises
    ------
    ViolationError
        If both have axes and they are on different devices.
    """
    if left.home != "torch" or right.home != "torch" or left.device is None or right.device is None:
        return
    if (
        left.device.partition(":")[0] != right.device.partition(":")[0]
        and left.shape
        and right.shape
    ):
        reason = f"tensors are on {left.device} and on {right.device}"
        raise ViolationError("RuntimeError", reason)
