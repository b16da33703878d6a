"""Layers of torch: what they are made of, and what they do to shapes."""

from __future__ import annotations

from typing import Any, Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import memory
from failbench.crashes.rules.knowledge.devices import check_there, device_of
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.shapes import product
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Mapping,
    Network,
    Sequence,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.networks.convolutions import pooled
from failbench.crashes.rules.networks.forward import forward
from failbench.crashes.rules.networks.layer_parameters import parameter_shapes
from failbench.crashes.rules.networks.layer_results import linear_result

CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")


def made(call: Call) -> Value:
    """A new layer.

    Raises
    ------
    ViolationError
        If settings do not go together, or the device is not there.
    """
    network = Network(call.path, settings.are_given(call))
    name = network.name
    if name in CONTAINERS:
        return _container(call, network)
    known = {key: settings.constant(value) for key, value in network.settings.items()}
    _check(name, known)
    device = "cpu"
    if "device" in call.kwargs:
        asked = device_of(call.kwargs["device"])
        check_there(asked)
        is_none = isinstance(call.kwargs["device"], Known) and call.kwargs["device"].data is None
        device = asked or ("cpu" if is_none else "")
    dtype = named(call.kwargs.get("dtype")) or ("float32" if "dtype" not in call.kwargs else None)
    shapes = parameter_shapes(name, known)
    if shapes is not None:
        network.parameters = {}
        for key, shape in shapes.items():
            if device != "meta":
                memory.check(product(shape), dtype, is_torch=True)
            network.parameters[key] = Array(
                "torch", shape, dtype, device=device or None, needs_grad=True
            )
    return network


def _container(call: Call, network: Network) -> Value:
    items: dict[str, Value] | None = {}
    values: list[Value] | None = list(call.args) if call.is_complete else None
    network.settings = {}
    if network.name != "Sequential":
        first = call.args[0] if call.args else Sequence("list", [])
        values = first.items if isinstance(first, Sequence) else None
        if isinstance(first, Mapping):
            items, values = {str(key): value for key, value in first.items.items()}, []
    elif len(call.args) == 1 and isinstance(call.args[0], Mapping):
        items, values = {str(k): v for k, v in call.args[0].items.items()}, []
    if values is None:
        return Unknown()
    for place, value in enumerate(values):
        if isinstance(value, (Known, Sequence, Array)):
            raise ViolationError("TypeError", f"{type(value).__name__} is not a Module subclass")
        if items is not None:
            items[str(place)] = value
    network.children = items or {}
    network.parameters = {}
    return network


def _check(name: str, given: dict[str, Any]) -> None:
    share = given.get("p")
    if (
        name.startswith(("Dropout", "AlphaDropout"))
        and isinstance(share, (int, float))
        and not 0 <= share <= 1
    ):
        raise ViolationError(
            "ValueError", f"dropout probability has to be between 0 and 1, but got {share}"
        )
    if name.startswith("Conv"):
        groups = given.get("groups", 1)
        for key in ("in_channels", "out_channels"):
            size = given.get(key)
            if isinstance(size, int) and isinstance(groups, int) and groups > 0 and size % groups:
                raise ViolationError("ValueError", f"{key} must be divisible by groups")
        mode = given.get("padding_mode", "zeros")
        if mode not in ("zeros", "reflect", "replicate", "circular", None):
            raise ViolationError("ValueError", f"{mode!r} is no way of padding")
        padding = given.get("padding")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ViolationError("ValueError", f"{padding!r} is no padding")
        if padding == "same" and given.get("stride", 1) not in (1, (1, 1)):
            raise ViolationError(
                "ValueError", "padding='same' is not supported for strided convolutions"
            )
    heads = given.get("num_heads", given.get("nhead"))
    width = given.get("embed_dim", given.get("d_model"))
    if isinstance(heads, int) and isinstance(width, int) and heads > 0 and width % heads:
        raise ViolationError("AssertionError", "embed_dim must be divisible by num_heads")
    if name == "GroupNorm":
        groups, channels = given.get("num_groups"), given.get("num_channels")
        if isinstance(groups, int) and isinstance(channels, int) and channels % groups:
            raise ViolationError("ValueError", "num_channels must be divisible by num_groups")
    for key in (
        "in_features",
        "out_features",
        "num_embeddings",
        "embedding_dim",
        "hidden_size",
        "in_channels",
    ):
        size = given.get(key)
        if isinstance(size, float):
            raise ViolationError("TypeError", f"{key} is a whole number, not {size}")
        if type(size) is int and size < 0:
            raise ViolationError("RuntimeError", f"{key} is not negative")
    place, count = given.get("padding_idx"), given.get("num_embeddings")
    if isinstance(place, int) and isinstance(count, int) and not -count <= place < count:
        raise ViolationError("AssertionError", "Padding_idx must be within num_embeddings")


def functional(call: Call) -> Value:
    """Pools as functions."""
    value = call.first()
    if not isinstance(value, Array) or "return_indices" in call.kwargs:
        return Unknown()
    count = int(call.name[-2])
    given = {key: settings.constant(each) for key, each in call.kwargs.items()}
    names = ("kernel_size", "stride", "padding")
    given |= {
        name: settings.constant(each) for name, each in zip(names, call.args[1:], strict=False)
    }
    return pooled(value, given, count)


def linear(call: Call) -> Value:
    """A linear map as a function."""
    value, weight = call.first(), call.arg(1, "weight")
    if (
        isinstance(value, Array)
        and isinstance(weight, Array)
        and weight.shape
        and len(weight.shape) == 2
    ):
        return linear_result(Network("torch.nn.Linear", {}, {}, {"weight": weight}), value)
    return Unknown()


FUNCTIONS: Final[dict[str, Handler]] = {
    "layer": made,
    "forward": forward,
    **{
        f"torch.nn.functional.{kind}_pool{count}d": functional
        for kind in ("max", "avg")
        for count in (1, 2, 3)
    },
    "torch.nn.functional.linear": linear,
}
