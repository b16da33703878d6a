"""Shapes of the parameters of layers."""

from __future__ import annotations

from typing import Any, Final

from failbench.crashes.rules.knowledge.values import Shape


def pair_of(value: Any, count: int) -> tuple[int, ...] | None:
    """A setting as a size for each axis."""
    if isinstance(value, int):
        return (value,) * count
    if (
        isinstance(value, (tuple, list))
        and len(value) == count
        and all(isinstance(e, int) for e in value)
    ):
        return tuple(value)
    return None


def parameter_shapes(name: str, given: dict[str, Any]) -> dict[str, Shape] | None:
    """Shapes of the parameters of a layer by name; None if the layer is not known."""

    def size(key: str) -> int | None:
        return given.get(key) if isinstance(given.get(key), int) else None

    with_bias = given.get("bias", True) is not False
    shapes: dict[str, Shape] = {}
    if name == "Linear":
        shapes["weight"] = (size("out_features"), size("in_features"))
        if with_bias:
            shapes["bias"] = (size("out_features"),)
        return shapes
    if name == "Embedding":
        return {"weight": (size("num_embeddings"), size("embedding_dim"))}
    if name in ("Conv1d", "Conv2d", "Conv3d"):
        count = int(name[4])
        kernel = pair_of(given.get("kernel_size"), count) or (None,) * count
        groups = given.get("groups", 1)
        channels = size("in_channels")
        inner = channels // groups if isinstance(groups, int) and channels is not None else None
        shapes["weight"] = (size("out_channels"), inner, *kernel)
        if with_bias:
            shapes["bias"] = (size("out_channels"),)
        return shapes
    if name.startswith("BatchNorm"):
        if given.get("affine", True) is False:
            return {}
        return {"weight": (size("num_features"),), "bias": (size("num_features"),)}
    if name == "LayerNorm":
        shape = given.get("normalized_shape")
        known: Shape | None = (
            (shape,)
            if isinstance(shape, int)
            else tuple(shape)
            if isinstance(shape, (tuple, list))
            else None
        )
        return None if known is None else {"weight": known, "bias": known}
    if (
        name in PLAIN
        or name.endswith("Loss")
        or name in ("Flatten", "Identity", "Dropout", "Dropout2d")
        or name.startswith(("MaxPool", "AvgPool", "Adaptive"))
    ):
        return {}
    if name in ("LSTM", "GRU", "RNN"):
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
        hidden = size("hidden_size")
        wide = None if hidden is None else gates * hidden
        return {"weight_ih_l0": (wide, size("input_size")), "weight_hh_l0": (wide, hidden)}
    return None


PLAIN: Final = (
    "ReLU", "Tanh", "Sigmoid", "GELU", "LeakyReLU", "ELU", "SiLU", "Softmax", "LogSoftmax",
    "Identity", "ReLU6", "Softplus", "Mish", "SELU", "Hardtanh", "LogSigmoid",
)  # fmt: skip
