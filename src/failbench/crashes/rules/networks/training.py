"""Networks as a whole, optimizers, loaders and data sets of torch."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation import iteration
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge.devices import check_there, device_of
from failbench.crashes.rules.knowledge.dtypes import named
from failbench.crashes.rules.knowledge.folding import NotConcreteError, concrete
from failbench.crashes.rules.knowledge.shapes import shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import (
    Array,
    Frame,
    Instance,
    Known,
    Mapping,
    Network,
    Sequence,
    Thing,
    Unknown,
    Value,
)
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.networks import batches
from failbench.crashes.rules.networks.modules import all_parameters, children, named_parameters

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


def optimizer(call: Call) -> Value:
    """A new optimizer.

    Raises
    ------
    ViolationError
        If there is nothing to learn, or a rate is not allowed.
    """
    given = call.arg(0, "params")
    if isinstance(given, (Network, Instance)):
        raise ViolationError("TypeError", f"{type(given).__name__} object is not iterable")
    if isinstance(given, Array):
        raise ViolationError(
            "TypeError",
            "params argument given to the optimizer should be an iterable of Tensors or dicts",
        )
    items = iteration.elements(given) if given is not None else None
    if items is not None and not items:
        raise ViolationError("ValueError", "optimizer got an empty parameter list")
    for each in items or []:
        if isinstance(each, Known):
            raise ViolationError("TypeError", "optimizer can only optimize Tensors")
        if isinstance(each, Sequence) and each.kind != "tuple":
            raise ViolationError("TypeError", "optimizer can only optimize Tensors")
        if isinstance(each, Array) and each.home != "torch":
            raise ViolationError("TypeError", "optimizer can only optimize Tensors")
        if isinstance(each, Array) and each.is_leaf is False:
            raise ViolationError("ValueError", "can't optimize a non-leaf Tensor")
        if isinstance(each, Mapping) and each.is_complete and "params" not in each.items:
            raise ViolationError("KeyError", "'params'")
    rate = call.arg(1, "lr")
    if isinstance(rate, Known) and isinstance(rate.data, str):
        raise ViolationError("TypeError", "a rate is a number")
    number = call.number(1, "lr")
    if number is not None and number < 0:
        raise ViolationError("ValueError", f"Invalid learning rate: {number}")
    for name in ("momentum", "weight_decay", "eps"):
        value = call.number(None, name)
        if value is not None and value < 0:
            raise ViolationError("ValueError", f"Invalid {name} value: {value}")
    try:
        betas = call.known(None, "betas", default=None)
    except NotConcreteError:
        betas = None
    if isinstance(betas, (tuple, list)) and any(
        isinstance(b, (int, float)) and not 0 <= b < 1 for b in betas
    ):
        raise ViolationError("ValueError", f"Invalid beta parameter: {betas}")
    if call.flag(None, "nesterov") and not call.number(None, "momentum", default=0.0):
        raise ViolationError(
            "ValueError", "Nesterov momentum requires a momentum and zero dampening"
        )
    return Thing(call.path, {"groups": items})


def scheduler(call: Call) -> Value:
    """A new schedule of rates."""
    owner = call.first() if call.args else call.kwargs.get("optimizer", Unknown())
    if isinstance(owner, (Network, Instance, Known, Sequence)):
        raise ViolationError("TypeError", "a schedule is of an optimizer")
    return Thing(call.path, {})


def loader(call: Call) -> Value:
    """A new loader.

    Raises
    ------
    ViolationError
        If a batch has no rows, or settings exclude one another.
    """
    names = (
        "dataset",
        "batch_size",
        "shuffle",
        "sampler",
        "batch_sampler",
        "num_workers",
        "collate_fn",
    )
    given = {name: call.arg(place, name) for place, name in enumerate(names)}
    size = given["batch_size"]
    known = settings.constant(size)
    if isinstance(size, Known) and (
        isinstance(known, bool)
        or (isinstance(known, int) and known <= 0)
        or isinstance(known, float)
    ):
        raise ViolationError(
            "ValueError", f"batch_size should be a positive integer value, but got {known}"
        )
    shuffle = call.flag(2, "shuffle")
    sampler = given["sampler"]
    has_sampler = sampler is not None and not (isinstance(sampler, Known) and sampler.data is None)
    if has_sampler and shuffle:
        raise ViolationError("ValueError", "sampler option is mutually exclusive with shuffle")
    if given["batch_sampler"] is not None and (size is not None or shuffle or has_sampler):
        raise ViolationError(
            "ValueError", "batch_sampler option is mutually exclusive with batch_size and shuffle"
        )
    dataset = given["dataset"] or Unknown()
    if shuffle and batches.length(dataset, call.state) == 0:
        raise ViolationError("ValueError", "num_samples should be a positive integer value")
    is_none = isinstance(size, Known) and size.data is None
    count: int | None = (
        1 if size is None else known if isinstance(known, int) else None if is_none else 0
    )
    return Thing("torch.utils.data.DataLoader", {
        "dataset": dataset, "batch_size": count if count != 0 or is_none else 1,
        "shuffle": bool(shuffle) or has_sampler, "collate_fn": given["collate_fn"],
    })  # fmt: skip


def tensors(call: Call) -> Value:
    """Tensors as a data set.

    Raises
    ------
    ViolationError
        If they have other lengths, or are no tensors.
    """
    arrays = [each for each in call.args if isinstance(each, Array)]
    for each in call.args:
        if isinstance(each, Array) and each.home == "numpy":
            raise ViolationError("TypeError", "'int' object is not callable")
        if isinstance(each, (Frame, Sequence)) or (
            isinstance(each, Array) and each.home == "series"
        ):
            raise ViolationError(
                "TypeError" if not isinstance(each, Sequence) else "AttributeError",
                "a data set of tensors",
            )
        if isinstance(each, Array) and each.shape == ():
            raise ViolationError("IndexError", "a tensor without axes has no rows")
    sizes = {each.length for each in arrays if each.length is not None}
    if len(sizes) > 1:
        raise ViolationError("AssertionError", "Size mismatch between tensors")
    return Thing("torch.utils.data.TensorDataset", {"arguments": list(call.args)})


def divided(call: Call) -> Value:
    """A data set in random parts."""
    dataset = call.arg(0, "dataset") or Unknown()
    total = batches.length(dataset, call.state)
    try:
        sizes = call.known(1, "lengths")
    except NotConcreteError:
        return Sequence("list")
    if (
        isinstance(sizes, (list, tuple))
        and total is not None
        and all(isinstance(each, int) for each in sizes)
    ) and sum(sizes) != total:
        raise ViolationError(
            "ValueError", "Sum of input lengths does not equal the length of the input dataset!"
        )
    count = len(sizes) if isinstance(sizes, (list, tuple)) else 0
    parts: list[Value] = [
        Thing("torch.utils.data.Subset", {"dataset": dataset}) for _ in range(count)
    ]
    return Sequence("list", parts)


def padded(call: Call) -> Value:
    """Sequences made as long as the longest."""
    items = iteration.elements(call.first())
    for each in items or []:
        if isinstance(each, (Known, Sequence)):
            raise ViolationError(
                "RuntimeError" if isinstance(each, Known) else "TypeError", "sequences are tensors"
            )
    if items and isinstance(items[0], Array) and items[0].shape is not None:
        return Array("torch", (None, None, *items[0].shape[1:]), items[0].dtype)
    return Array("torch", None, None)


def packed(call: Call) -> Value:
    """Sequences without what pads them."""
    try:
        lengths = concrete(call.arg(1, "lengths"))
    except NotConcreteError:
        return Unknown()
    sorted_first = call.flag(3, "enforce_sorted", default=True)
    if isinstance(lengths, list) and sorted_first and lengths != sorted(lengths, reverse=True):
        raise ViolationError("RuntimeError", "`lengths` array must be sorted in decreasing order")
    if isinstance(lengths, list) and 0 in lengths:
        raise ViolationError("RuntimeError", "Length of all samples has to be greater than 0")
    return Unknown()


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

SCHEDULES: Final = (
    "StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "ReduceLROnPlateau",
    "LambdaLR", "LinearLR", "OneCycleLR",
)  # fmt: skip

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
