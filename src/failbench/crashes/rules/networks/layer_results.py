"""What layers make of their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import derived, matmul, of_graph, product, shown
from failbench.crashes.rules.knowledge.values import Array, Known, Network, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.networks.convolutions import adaptive, convolution, pool
from failbench.crashes.rules.networks.layer_inputs import check_dtype, layer_size, made_of


def linear_result(network: Network, value: Array) -> Value:
    """Of a linear layer."""
    inner, outer = layer_size(network, "in_features", 1), layer_size(network, "out_features", 0)
    if value.shape == ():
        raise ViolationError("RuntimeError", "a matrix product needs factors with axes")
    check_dtype(network, value)
    shape = matmul(value.shape, (inner, outer), "RuntimeError")
    return made_of(network, value, shape)


def _flatten(network: Network, value: Array) -> Value:
    start = settings.constant(network.settings.get("start_dim", Known(1)))
    if value.shape is None or start != 1 or "end_dim" in network.settings:
        return of_graph(derived(value, None), value)
    if len(value.shape) < 2:
        raise ViolationError("IndexError", "Dimension out of range")
    return of_graph(derived(value, (value.shape[0], product(value.shape[1:]))), value)


def _embedding(network: Network, value: Array) -> Value:
    if facts.kind(value) in ("f", "b"):
        raise ViolationError("RuntimeError", f"codes are Long or Int, not {value.dtype}")
    count = layer_size(network, "num_embeddings", 0)
    high, low = facts.highest(value), facts.lowest(value)
    if (high is not None and count is not None and high >= count) or (low is not None and low < 0):
        raise ViolationError("IndexError", "index out of range in self")
    width = layer_size(network, "embedding_dim", 1)
    return made_of(network, value, None if value.shape is None else (*value.shape, width))


def _batch_norm(network: Network, value: Array) -> Value:
    ranks = {"BatchNorm1d": (2, 3), "BatchNorm2d": (4,), "BatchNorm3d": (5,)}[network.name]
    features = layer_size(network, "num_features", 0)
    if value.shape is not None:
        if len(value.shape) not in ranks:
            raise ViolationError("ValueError", f"{ranks} axes are due, not {shown(value.shape)}")
        if features is not None and value.shape[1] is not None and value.shape[1] != features:
            raise ViolationError(
                "RuntimeError",
                f"running_mean should contain {value.shape[1]} elements not {features}",
            )
        rest = product((value.shape[0], *value.shape[2:]))
        training = settings.constant(network.settings.get("training", Known(True)))
        if rest == 1 and training is True:
            raise ViolationError(
                "ValueError", "Expected more than 1 value per channel when training"
            )
    if facts.kind(value) in ("i", "u", "b"):
        raise ViolationError("NotImplementedError", "\"batch_norm\" not implemented for 'Long'")
    return made_of(network, value, value.shape)


def _layer_norm(network: Network, value: Array) -> Value:
    shape = settings.constant(network.settings.get("normalized_shape"))
    wanted = (
        (shape,)
        if isinstance(shape, int)
        else tuple(shape)
        if isinstance(shape, (tuple, list))
        else None
    )
    if wanted and value.shape is not None:
        ours = value.shape[-len(wanted) :]
        if len(ours) < len(wanted) or any(
            a is not None and a != b for a, b in zip(ours, wanted, strict=False)
        ):
            raise ViolationError(
                "RuntimeError", f"an input of [*, {wanted}] is due, not {shown(value.shape)}"
            )
    return made_of(network, value, value.shape)


def _recurrent(network: Network, value: Array) -> Value:
    width, hidden = layer_size(network, "input_size", 1), layer_size(network, "hidden_size", 0)
    weight = (network.parameters or {}).get("weight_ih_l0")
    if width is None and weight is not None and weight.shape:
        width = weight.shape[1]
    if value.shape is not None:
        if len(value.shape) not in (2, 3):
            raise ViolationError(
                "ValueError", f"Expected input to be 2D or 3D, got {len(value.shape)}D instead"
            )
        if width is not None and value.shape[-1] is not None and value.shape[-1] != width:
            raise ViolationError(
                "RuntimeError",
                f"input.size(-1) is {value.shape[-1]} where {width} is expected",
            )
    check_dtype(network, value, "ValueError")
    two = settings.constant(network.settings.get("bidirectional", Known(False)))
    outer = None if hidden is None or two is None else hidden * (2 if two else 1)
    shape = None if value.shape is None else (*value.shape[:-1], outer)
    state: Value = Unknown()
    if network.name == "LSTM":
        state = Sequence("tuple", [Array("torch", device=None), Array("torch", device=None)])
    return Sequence("tuple", [made_of(network, value, shape), state])


RULES: Final[dict[str, Callable[[Network, Array], Value]]] = {
    "Linear": linear_result,
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d"), convolution),
    **{f"{kind}Pool{count}d": pool for kind in ("Max", "Avg") for count in (1, 2, 3)},
    **{f"Adaptive{kind}Pool{count}d": adaptive for kind in ("Max", "Avg") for count in (1, 2)},
    "Flatten": _flatten,
    "Embedding": _embedding,
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"), _batch_norm),
    "LayerNorm": _layer_norm,
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
}
