"""Optimizers and schedules of PyTorch."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.knowledge.folding import NotConcreteError
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Instance,
    Known,
    Mapping,
    Network,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError


def optimizer(call: Call) -> Value:
    """A new optimizer.

    Raises
    ------
    ViolationError
        If there is nothing to learn, or a rate is not allowed.
    """
    given = call.arg(0, "params")
    if isinstance(given, (Network, Instance)):
        raise ViolationError("TypeError", f"{type(given).__name__} object is not iterable")
    if isinstance(given, Array):
        raise ViolationError(
            "TypeError",
            "params argument given to the optimizer should be an iterable of Tensors or dicts",
        )
    items = iteration.elements(given) if given is not None else None
    if items is not None and not items:
        raise ViolationError("ValueError", "optimizer got an empty parameter list")
    for each in items or []:
        if isinstance(each, Known):
            raise ViolationError("TypeError", "optimizer can only optimize Tensors")
        if isinstance(each, Sequence) and each.kind != "tuple":
            raise ViolationError("TypeError", "optimizer can only optimize Tensors")
        if isinstance(each, Array) and each.home != "torch":
            raise ViolationError("TypeError", "optimizer can only optimize Tensors")
        if isinstance(each, Array) and each.is_leaf is False:
            raise ViolationError("ValueError", "can't optimize a non-leaf Tensor")
        if isinstance(each, Mapping) and each.is_complete and "params" not in each.items:
            raise ViolationError("KeyError", "'params'")
    rate = call.arg(1, "lr")
    if isinstance(rate, Known) and isinstance(rate.data, str):
        raise ViolationError("TypeError", "a rate is a number")
    number = call.number(1, "lr")
    if number is not None and number < 0:
        raise ViolationError("ValueError", f"Invalid learning rate: {number}")
    for name in ("momentum", "weight_decay", "eps"):
        value = call.number(None, name)
        if value is not None and value < 0:
            raise ViolationError("ValueError", f"Invalid {name} value: {value}")
    try:
        betas = call.known(None, "betas", default=None)
    except NotConcreteError:
        betas = None
    if isinstance(betas, (tuple, list)) and any(
        isinstance(b, (int, float)) and not 0 <= b < 1 for b in betas
    ):
        raise ViolationError("ValueError", f"Invalid beta parameter: {betas}")
    if call.flag(None, "nesterov") and not call.number(None, "momentum", default=0.0):
        raise ViolationError(
            "ValueError", "Nesterov momentum requires a momentum and zero dampening"
        )
    return Thing(call.path, {"groups": items})


def scheduler(call: Call) -> Value:
    """A new schedule of rates."""
    owner = call.first() if call.args else call.kwargs.get("optimizer", Unknown())
    if isinstance(owner, (Network, Instance, Known, Sequence)):
        raise ViolationError("TypeError", "a schedule is of an optimizer")
    return Thing(call.path, {})


SCHEDULES: Final = (
    "StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "ReduceLROnPlateau",
    "LambdaLR", "LinearLR", "OneCycleLR",
)  # fmt: skip
