"""Networks as a whole, optimizers, loaders and data sets of torch."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge.devices import check_there, device_of
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.shapes import shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Instance,
    Known,
    Mapping,
    Network,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.networks.loaders import divided, loader, packed, padded, tensors
from failbench.crashes.rules.networks.modules import all_parameters, children, named_parameters
from failbench.crashes.rules.networks.optimizers import SCHEDULES, optimizer, scheduler

MODULE: Final = "torch.nn.Module"


def weights(call: Call) -> Value:
    """The weights of a network."""
    known = named_parameters(call.receiver)
    if known is None:
        element: Value = Unknown()
        return Sequence("iterator", None, None, element)
    if call.name == "parameters":
        return Sequence("iterator", list(known.values()))
    return Sequence(
        "iterator", [Sequence("tuple", [Known(key), each]) for key, each in known.items()]
    )


def moved(call: Call) -> Value:
    """A network on another device, or in another type."""
    network = call.receiver
    known = all_parameters(network)
    values = [*call.args, *call.kwargs.values()]
    if call.name in ("cuda", "cpu", "xpu"):
        values = [Known(call.name)]
    dtypes = {"double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16"}
    dtype = dtypes.get(call.name)
    for value in values:
        found = named(value) if not isinstance(value, Known) else None
        if found is not None:
            dtype = found
            continue
        if isinstance(value, Known) and isinstance(value.data, bool):
            continue
        device = device_of(value)
        if known != []:
            check_there(device)
        for weight in known or []:
            if weight.device == "meta" and device not in ("meta", None) and call.name != "to_empty":
                raise ViolationError(
                    "NotImplementedError", "Cannot copy out of meta tensor; no data!"
                )
        for weight in known or []:
            weight.device = device
    for weight in known or []:
        if dtype is not None:
            weight.dtype = dtype
    return network


def mode(call: Call) -> Value:
    """A network that trains, or does not."""
    trains = call.name == "train" and call.flag(0, "mode", default=True) is not False
    pending: list[Value] = [call.receiver]
    while pending:
        value = pending.pop()
        if isinstance(value, Network):
            value.settings["training"] = Known(trains)
        pending += children(value).values()
    return call.receiver


def with_gradients(call: Call) -> Value:
    """Weights that learn, or do not."""
    wants = call.flag(0, "requires_grad", default=True)
    for weight in all_parameters(call.receiver) or []:
        weight.needs_grad = wants
    return call.receiver


def layers(call: Call) -> Value:
    """The layers of a network."""
    known = children(call.receiver)
    if call.name == "children":
        return Sequence("iterator", list(known.values()))
    if call.name == "named_children":
        return Sequence(
            "iterator", [Sequence("tuple", [Known(key), each]) for key, each in known.items()]
        )
    return Sequence("iterator")


def stored(call: Call) -> Value:
    """The weights by name."""
    known = named_parameters(call.receiver)
    has_buffers = _has_buffers(call.receiver)
    return Mapping({}, False) if known is None else Mapping(dict(known), not has_buffers)


def _has_buffers(value: Value) -> bool:
    if isinstance(value, Network) and value.name.startswith(("BatchNorm", "InstanceNorm")):
        return True
    return isinstance(value, Instance) or any(
        _has_buffers(each) for each in children(value).values()
    )


def load(call: Call) -> Value:
    """Take over weights by name.

    Raises
    ------
    ViolationError
        If names or shapes differ.
    """
    given = call.arg(0, "state_dict")
    known = named_parameters(call.receiver)
    if isinstance(given, (Known, Network)):
        raise ViolationError("TypeError", "Expected state_dict to be dict-like")
    if not isinstance(given, Mapping) or known is None:
        return Unknown()
    strict = call.flag(1, "strict", default=True)
    has_buffers = _has_buffers(call.receiver)
    for name, weight in known.items():
        other = given.items.get(name)
        if other is None and given.is_complete and strict:
            raise ViolationError("RuntimeError", f"Missing key in state_dict: {name!r}")
        if isinstance(other, Array) and other.shape is not None and weight.shape is not None:
            differ = len(other.shape) != len(weight.shape) or any(
                a is not None and b is not None and a != b
                for a, b in zip(other.shape, weight.shape, strict=False)
            )
            if differ:
                raise ViolationError(
                    "RuntimeError",
                    f"size mismatch for {name}: {shown(other.shape)} and {shown(weight.shape)}",
                )
    if strict and not has_buffers:
        for key in given.items:
            if key not in known:
                raise ViolationError("RuntimeError", f"Unexpected key in state_dict: {key!r}")
    return Unknown()


def parameter(call: Call) -> Value:
    """A weight that a notebook makes itself."""
    value = call.arg(0, "data")
    if isinstance(value, Array) and value.home != "torch":
        raise ViolationError("AttributeError", "a parameter is made of a tensor")
    if not isinstance(value, Array):
        return Unknown()
    made = Array(
        "torch", value.shape, value.dtype, device=value.device, is_contiguous=value.is_contiguous
    )
    made.needs_grad = call.flag(1, "requires_grad", default=True)
    if made.needs_grad and (value.dtype or "f").startswith(("int", "uint", "bool")):
        raise ViolationError(
            "RuntimeError", "Only Tensors of floating point and complex dtype can require gradients"
        )
    made.name = Known("parameter")
    return made


def registered(call: Call) -> Value:
    """A layer, weight or buffer that a method of a network registers by name."""
    owner, name = call.receiver, call.text(0, "name")
    value = call.arg(1, "module", "param", "tensor") or Unknown()
    if isinstance(owner, Instance) and name is not None:
        owner.attributes[name] = value
    return Known(None)


METHODS: Final[dict[str, Handler]] = {
    **dict.fromkeys(("parameters", "named_parameters"), weights),
    **dict.fromkeys(
        ("to", "cuda", "cpu", "xpu", "double", "float", "half", "bfloat16", "to_empty"), moved
    ),
    **dict.fromkeys(("train", "eval"), mode),
    "requires_grad_": with_gradients,
    **dict.fromkeys(("children", "named_children", "modules", "named_modules"), layers),
    "state_dict": stored,
    "load_state_dict": load,
    **dict.fromkeys(
        ("add_module", "register_buffer", "register_parameter", "register_module"), registered
    ),
}

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"{MODULE}.{name}": rule for name, rule in METHODS.items()},
    "torch.nn.Parameter": parameter,
    "optimizer": optimizer,
    **{f"torch.optim.lr_scheduler.{name}": scheduler for name in SCHEDULES},
    "torch.utils.data.DataLoader": loader,
    "torch.utils.data.TensorDataset": tensors,
    "torch.utils.data.random_split": divided,
    "torch.nn.utils.rnn.pad_sequence": padded,
    "torch.nn.utils.rnn.pack_padded_sequence": packed,
}
