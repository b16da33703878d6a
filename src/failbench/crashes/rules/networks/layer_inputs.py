"""Sizes and types that layers ask of their inputs."""

from __future__ import annotations

from failbench.crashes.rules.knowledge.shapes import derived, of_graph
from failbench.crashes.rules.knowledge.values import Array, Network, Shape
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings


def layer_weights(network: Network) -> list[Array]:
    """The parameters of a layer."""
    return list((network.parameters or {}).values())


def layer_size(network: Network, name: str, weight: int) -> int | None:
    """A size of a layer: the setting, or else an axis of the weight."""
    known = settings.constant(network.settings.get(name))
    if isinstance(known, int):
        return known
    found = (network.parameters or {}).get("weight")
    shape = None if found is None else found.shape
    return shape[weight] if shape is not None and len(shape) > weight else None


def layer_dtype(network: Network) -> str | None:
    """The type of the parameters of a layer."""
    weights = layer_weights(network)
    return weights[0].dtype if weights else None


def made_of(network: Network, value: Array, shape: Shape | None) -> Array:
    """What a layer makes of a value, with the gradients of both."""
    result = derived(value, shape)
    result.is_contiguous = True
    result.dtype = layer_dtype(network) or value.dtype
    return of_graph(result, value, *layer_weights(network))


def check_dtype(network: Network, value: Array, exception: str = "RuntimeError") -> None:
    """Refuse an input of another type than the parameters."""
    dtype = layer_dtype(network)
    if dtype is not None and value.dtype is not None and dtype != value.dtype:
        raise ViolationError(
            exception, f"must have the same dtype, but got {value.dtype} and {dtype}"
        )
