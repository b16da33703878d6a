"""Convolutions and pools."""

from __future__ import annotations

from typing import Any

from failbench.crashes.rules.knowledge.shapes import derived, of_graph, shown
from failbench.crashes.rules.knowledge.values import Array, Network, Shape, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.networks.layer_inputs import check_dtype, layer_size, made_of
from failbench.crashes.rules.networks.layer_parameters import pair_of


def convolution(network: Network, value: Array) -> Value:
    """Of a convolution, plain or transposed."""
    count = int(network.name[4])
    given = {key: settings.constant(each) for key, each in network.settings.items()}
    shape = value.shape
    if shape is not None and len(shape) not in (count + 1, count + 2):
        raise ViolationError(
            "RuntimeError", f"Expected {count + 1}D or {count + 2}D input, but got {shown(shape)}"
        )
    if shape is not None:
        channels = shape[-count - 1]
        weight = (network.parameters or {}).get("weight")
        wanted = given.get("in_channels")
        groups = given.get("groups", 1)
        if (
            not isinstance(wanted, int)
            and weight is not None
            and weight.shape
            and isinstance(groups, int)
        ):
            wanted = None if weight.shape[1] is None else weight.shape[1] * groups
        if isinstance(wanted, int) and channels is not None and channels != wanted:
            raise ViolationError("RuntimeError", f"{wanted} channels are due, not {channels}")
    check_dtype(network, value)
    if shape is None:
        return made_of(network, value, None)
    outer = layer_size(network, "out_channels", 0)
    sizes = _windows(shape[-count:], given, count)
    return made_of(network, value, (*shape[: -count - 1], outer, *sizes))


def _windows(sizes: Shape, given: dict[str, Any], count: int, is_pool: bool = False) -> Shape:
    kernel = pair_of(given.get("kernel_size"), count)
    stride = pair_of(given.get("stride") or (given.get("kernel_size") if is_pool else 1), count)
    dilation = pair_of(given.get("dilation", 1), count)
    padding = given.get("padding", 0)
    if padding == "same":
        return sizes
    pads = pair_of(0 if padding == "valid" else padding, count)
    if (
        kernel is None
        or stride is None
        or dilation is None
        or pads is None
        or given.get("ceil_mode")
    ):
        return (None,) * count
    result: list[int | None] = []
    for size, k, s, d, p in zip(sizes, kernel, stride, dilation, pads, strict=False):
        if size is None:
            result.append(None)
            continue
        room = size + 2 * p - d * (k - 1) - 1
        if room < 0:
            raise ViolationError(
                "RuntimeError", f"a kernel of {k} is larger than {size + 2 * p} places"
            )
        result.append(room // s + 1)
    return tuple(result)


def pool(network: Network, value: Array) -> Value:
    """Windows of which the largest or the mean is kept."""
    count = int(network.name[7])
    given = {key: settings.constant(each) for key, each in network.settings.items()}
    if "return_indices" in network.settings:
        return Unknown()
    return pooled(value, given, count)


def pooled(value: Array, given: dict[str, Any], count: int) -> Value:
    """As :func:`pool`, with settings as constants."""
    if value.shape is None:
        return of_graph(derived(value, None), value)
    if len(value.shape) not in (count + 1, count + 2):
        raise ViolationError(
            "RuntimeError", f"{count + 1} or {count + 2} axes are due, not {shown(value.shape)}"
        )
    sizes = _windows(value.shape[-count:], given, count, is_pool=True)
    return of_graph(derived(value, (*value.shape[:-count], *sizes)), value)


def adaptive(network: Network, value: Array) -> Value:
    """Of a pool that is given the size of its result."""
    count = int(network.name[-2])
    sizes = (
        pair_of(settings.constant(network.settings.get("output_size")), count) or (None,) * count
    )
    shape = None if value.shape is None else (*value.shape[:-count], *sizes)
    return of_graph(derived(value, shape), value)
