"""Gradients of tensors."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.arrays import shaping
from failbench.crashes.rules.evaluation.registry import Property, Writer
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import Array, Known, Thing, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def backward(call: Call, tensor: Array) -> Value:
    """The way back.

    Raises
    ------
    ViolationError
        If there is no gradient, the tensor is no scalar, or its graph was freed.
    """
    if tensor.needs_grad is False:
        raise ViolationError(
            "RuntimeError", "element 0 of tensors does not require grad and does not have a grad_fn"
        )
    given = call.arg(0, "gradient")
    if tensor.size is not None and tensor.size != 1 and given is None:
        raise ViolationError(
            "RuntimeError", "grad can be implicitly created only for scalar outputs"
        )
    if any(part.is_freed for part in tensor.graph):
        raise ViolationError("RuntimeError", "Trying to backward through the graph a second time")
    if not call.flag(1, "retain_graph") and not call.flag(None, "create_graph"):
        for part in tensor.graph:
            part.is_freed = True
    return Known(None)


def _of_result(value: Value, name: str, _state: State) -> Value:
    assert isinstance(value, Thing)
    known = value.facts[name]
    return known if isinstance(known, Value) else Unknown()


def _grad(value: Value, name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    known = {"requires_grad": value.needs_grad, "is_leaf": value.is_leaf}
    if name == "device":
        return Thing("torch.device", {"device": value.device})
    if name == "data":
        made = shaping.of_shape(value, value.shape)
        made.needs_grad, made.graph, made.is_leaf = False, (), True
        return made
    if name in known and known[name] is not None:
        return Known(known[name])
    return Unknown()


def _set_grad(owner: Value, value: Value, _state: State) -> None:
    assert isinstance(owner, Array)
    if isinstance(value, Known) and isinstance(value.data, bool):
        if value.data and (facts.kind(owner) or "f") in "iub":
            raise ViolationError(
                "RuntimeError", "only Tensors of floating point dtype can require gradients"
            )
        owner.needs_grad = value.data


PROPERTIES: Final[dict[str, Property]] = {
    **{f"torch.return_types.{name}": _of_result for name in ("values", "indices")},
    **{
        f"torch.Tensor.{name}": _grad
        for name in ("requires_grad", "is_leaf", "device", "data", "grad")
    },
}

WRITERS: Final[dict[str, Writer]] = {"torch.Tensor.requires_grad": _set_grad}
