"""Layers of torch: what they are made of, and what they do to shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.devices import check_there, device_of
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.interfaces import parameters
from failbench.crashes.rules.knowledge.shapes import derived, matmul, of_graph, product, shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Known,
    Mapping,
    Network,
    Sequence,
    Shape,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.networks import losses
from failbench.crashes.rules.networks.modules import all_parameters

CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")


def made(call: Call) -> Value:
    """A new layer.

    Raises
    ------
    ViolationError
        If settings do not go together, or the device is not there.
    """
    network = Network(call.path, _given(call))
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
    shapes = _parameter_shapes(name, known)
    if shapes is not None:
        network.parameters = {}
        for key, shape in shapes.items():
            if device != "meta":
                memory.check(product(shape), dtype, is_torch=True)
            network.parameters[key] = Array(
                "torch", shape, dtype, device=device or None, needs_grad=True
            )
    return network


def _given(call: Call) -> dict[str, Value]:
    known = parameters(call.path)
    given = dict(call.kwargs)
    if known is not None:
        given |= dict(zip(known.positional, call.args, strict=False))
    return given


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


def _pair(value: Any, count: int) -> tuple[int, ...] | None:
    if isinstance(value, int):
        return (value,) * count
    if (
        isinstance(value, (tuple, list))
        and len(value) == count
        and all(isinstance(e, int) for e in value)
    ):
        return tuple(value)
    return None


def _parameter_shapes(name: str, given: dict[str, Any]) -> dict[str, Shape] | None:
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
        kernel = _pair(given.get("kernel_size"), count) or (None,) * count
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


def _weights(network: Network) -> list[Array]:
    return list((network.parameters or {}).values())


def _size(network: Network, name: str, weight: int) -> int | None:
    known = settings.constant(network.settings.get(name))
    if isinstance(known, int):
        return known
    found = (network.parameters or {}).get("weight")
    shape = None if found is None else found.shape
    return shape[weight] if shape is not None and len(shape) > weight else None


def _dtype_of(network: Network) -> str | None:
    weights = _weights(network)
    return weights[0].dtype if weights else None


def _made(network: Network, value: Array, shape: Shape | None) -> Array:
    result = derived(value, shape)
    result.is_contiguous = True
    result.dtype = _dtype_of(network) or value.dtype
    return of_graph(result, value, *_weights(network))


def _check_dtype(network: Network, value: Array, exception: str = "RuntimeError") -> None:
    dtype = _dtype_of(network)
    if dtype is not None and value.dtype is not None and dtype != value.dtype:
        raise ViolationError(
            exception, f"must have the same dtype, but got {value.dtype} and {dtype}"
        )


def _linear(network: Network, value: Array) -> Value:
    inner, outer = _size(network, "in_features", 1), _size(network, "out_features", 0)
    if value.shape == ():
        raise ViolationError("RuntimeError", "a matrix product needs factors with axes")
    _check_dtype(network, value)
    shape = matmul(value.shape, (inner, outer), "RuntimeError")
    return _made(network, value, shape)


def _convolution(network: Network, value: Array) -> Value:
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
    _check_dtype(network, value)
    if shape is None:
        return _made(network, value, None)
    outer = _size(network, "out_channels", 0)
    sizes = _windows(shape[-count:], given, count)
    return _made(network, value, (*shape[: -count - 1], outer, *sizes))


def _windows(sizes: Shape, given: dict[str, Any], count: int, is_pool: bool = False) -> Shape:
    kernel = _pair(given.get("kernel_size"), count)
    stride = _pair(given.get("stride") or (given.get("kernel_size") if is_pool else 1), count)
    dilation = _pair(given.get("dilation", 1), count)
    padding = given.get("padding", 0)
    if padding == "same":
        return sizes
    pads = _pair(0 if padding == "valid" else padding, count)
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


def _adaptive(network: Network, value: Array) -> Value:
    count = int(network.name[-2])
    sizes = _pair(settings.constant(network.settings.get("output_size")), count) or (None,) * count
    shape = None if value.shape is None else (*value.shape[:-count], *sizes)
    return of_graph(derived(value, shape), value)


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
    count = _size(network, "num_embeddings", 0)
    high, low = facts.highest(value), facts.lowest(value)
    if (high is not None and count is not None and high >= count) or (low is not None and low < 0):
        raise ViolationError("IndexError", "index out of range in self")
    width = _size(network, "embedding_dim", 1)
    return _made(network, value, None if value.shape is None else (*value.shape, width))


def _batch_norm(network: Network, value: Array) -> Value:
    ranks = {"BatchNorm1d": (2, 3), "BatchNorm2d": (4,), "BatchNorm3d": (5,)}[network.name]
    features = _size(network, "num_features", 0)
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
    return _made(network, value, value.shape)


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
    return _made(network, value, value.shape)


def _recurrent(network: Network, value: Array) -> Value:
    width, hidden = _size(network, "input_size", 1), _size(network, "hidden_size", 0)
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
    _check_dtype(network, value, "ValueError")
    two = settings.constant(network.settings.get("bidirectional", Known(False)))
    outer = None if hidden is None or two is None else hidden * (2 if two else 1)
    shape = None if value.shape is None else (*value.shape[:-1], outer)
    state: Value = Unknown()
    if network.name == "LSTM":
        state = Sequence("tuple", [Array("torch", device=None), Array("torch", device=None)])
    return Sequence("tuple", [_made(network, value, shape), state])


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
        return _linear(Network("torch.nn.Linear", {}, {}, {"weight": weight}), value)
    return Unknown()


PLAIN: Final = (
    "ReLU", "Tanh", "Sigmoid", "GELU", "LeakyReLU", "ELU", "SiLU", "Softmax", "LogSoftmax",
    "Identity", "ReLU6", "Softplus", "Mish", "SELU", "Hardtanh", "LogSigmoid",
)  # fmt: skip

RULES: Final[dict[str, Callable[[Network, Array], Value]]] = {
    "Linear": _linear,
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d"), _convolution),
    **{f"{kind}Pool{count}d": pool for kind in ("Max", "Avg") for count in (1, 2, 3)},
    **{f"Adaptive{kind}Pool{count}d": _adaptive for kind in ("Max", "Avg") for count in (1, 2)},
    "Flatten": _flatten,
    "Embedding": _embedding,
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"), _batch_norm),
    "LayerNorm": _layer_norm,
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
}

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
