"""Networks that are called."""

from __future__ import annotations

from failbench.crashes.rules.knowledge.shapes import derived, of_graph
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Network,
    Sequence,
    Shape,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.networks import losses
from failbench.crashes.rules.networks.layer_parameters import PLAIN
from failbench.crashes.rules.networks.layer_results import RULES
from failbench.crashes.rules.networks.modules import all_parameters


def forward(call: Call) -> Value:
    """What a layer does to a tensor."""
    network = call.receiver
    assert isinstance(network, Network)
    name = network.name
    if name in ("ModuleList", "ModuleDict"):
        raise ViolationError(
            "NotImplementedError", f'Module [{name}] is missing the required "forward" function'
        )
    for function, loss in losses.NAMES.items():
        if name == loss:
            target = call.arg(1, "target")
            return losses.loss_of(function, call.first(), target or Unknown(), network.settings)
    if name == "Sequential":
        value: Value = call.first()
        for child in network.children.values():
            value = call.state.call(child, [value])
        return value
    value = call.first()
    if (
        isinstance(value, (Known, Sequence))
        or (isinstance(value, Array) and value.home in ("numpy", "series", "index"))
    ) and name not in ("Identity", "Dropout"):
        raise ViolationError(
            "TypeError" if name not in ("Flatten", "BatchNorm1d") else "AttributeError",
            f"{name} is of tensors",
        )
    if not isinstance(value, Array):
        return _result(network, None, value)
    _check_device(network, value)
    rule = RULES.get(name)
    if rule is not None:
        return rule(network, value)
    if name in PLAIN or name.startswith(("Dropout", "BatchNorm")):
        return of_graph(derived(value, value.shape), value)
    return _result(network, None, value)


def _result(network: Network, shape: Shape | None, value: Value) -> Value:
    result = Array("torch", shape, None, device=None)
    if network.name in ("LSTM", "GRU", "RNN", "MultiheadAttention"):
        return Sequence("tuple", [result, Unknown()])
    sources = list((network.parameters or {}).values())
    if isinstance(value, Array):
        result.device, result.dtype = value.device, value.dtype
        return of_graph(result, value, *sources)
    result.needs_grad, result.is_leaf = None, None
    return result


def _check_device(network: Network, value: Array) -> None:
    weights = [each for each in all_parameters(network) or [] if each.device]
    if not weights or value.device is None:
        return
    for weight in weights[:1]:
        if (weight.device == "meta") != (value.device == "meta"):
            raise ViolationError(
                "RuntimeError", f"a tensor on {value.device} meets weights on {weight.device}"
            )
