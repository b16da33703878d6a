"""The weights of networks, whether of layers or of classes of the notebook."""

from __future__ import annotations

from failbench.crashes.rules.knowledge.values import (
    Array,
    Instance,
    Mapping,
    Network,
    Sequence,
    Value,
)


def children(value: Value) -> dict[str, Value]:
    """The layers that a network registers: attributes that are networks, not lists of them."""
    if isinstance(value, Network):
        return value.children
    if isinstance(value, Instance):
        kept = (Network, Instance)
        return {key: each for key, each in value.attributes.items() if isinstance(each, kept)}
    return {}


def named_parameters(value: Value, prefix: str = "") -> dict[str, Array] | None:
    """Weights by name; None if they are not all known."""
    weights: dict[str, Array] = {}
    if isinstance(value, Network):
        if value.parameters is None:
            return None
        weights = {f"{prefix}{key}": each for key, each in value.parameters.items()}
    elif isinstance(value, Instance):
        if not value.is_complete:
            return None
        for key, each in value.attributes.items():
            if isinstance(each, Array) and each.home == "torch" and each.name is not None:
                weights[f"{prefix}{key}"] = each
            elif not isinstance(each, (Array, Network, Instance, Sequence, Mapping)) and _may_hold(
                each
            ):
                return None
    for key, child in children(value).items():
        inner = named_parameters(child, f"{prefix}{key}.")
        if inner is None:
            return None
        weights |= inner
    return weights


def _may_hold(value: Value) -> bool:
    return type(value).__name__ == "Unknown"


def all_parameters(value: Value) -> list[Array] | None:
    """Weights in order; None if they are not all known."""
    weights = named_parameters(value)
    return None if weights is None else list(weights.values())
