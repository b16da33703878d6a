"""Methods of tensors, and functions of torch of the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from failbench.crashes.rules.arrays import methods as array_methods
from failbench.crashes.rules.arrays.creation import shape_of
from failbench.crashes.rules.evaluation import operators
from failbench.crashes.rules.evaluation.registry import Handler, Property, Writer
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.devices import check_there, device_of
from failbench.crashes.rules.knowledge.dtypes import TORCH, named
from failbench.crashes.rules.knowledge.shapes import (
    axis_of,
    broadcast,
    derived,
    of_graph,
    reduced,
    reshaped,
    shown,
)
from failbench.crashes.rules.knowledge.state import Call, State
from failbench.crashes.rules.knowledge.values import Array, Known, Sequence, Thing, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def as_method(call: Call) -> Call | None:
    """A call of a function as the method of its first argument; None if that is no tensor."""
    if isinstance(call.receiver, Array):
        return call
    first = call.args[0] if call.args else call.kwargs.get("input")
    if not isinstance(first, Array) or first.home != "torch":
        if (isinstance(first, Array) and first.home in ("numpy", "series")) or isinstance(
            first, Sequence
        ):
            raise ViolationError("TypeError", f"{call.name}(): argument 'input' must be Tensor")
        return None
    rest = call.args[1:] if call.args else []
    kwargs = {key: value for key, value in call.kwargs.items() if key != "input"}
    return Call(call.state, call.path, rest, kwargs, call.is_complete, first)


def both(rule: Callable[[Call, Array], Value]) -> Handler:
    """A rule for a method and the function of its name."""

    def applied(call: Call) -> Value:
        asked = as_method(call)
        if asked is None:
            return Unknown()
        assert isinstance(asked.receiver, Array)
        return rule(asked, asked.receiver)

    return applied


def to(call: Call, tensor: Array) -> Value:
    """On another device, or in another type."""
    made = derived(tensor, tensor.shape, keep=True)
    made.is_attained, made.uniques, made.distinct = (
        tensor.is_attained,
        tensor.uniques,
        tensor.distinct,
    )
    made.nan, made.inf, made.data, made.is_contiguous = (
        tensor.nan,
        tensor.inf,
        tensor.data,
        tensor.is_contiguous,
    )
    values = [*call.args, *call.kwargs.values()]
    if call.name in ("cuda", "cpu", "xpu"):
        values = [Known(call.name)]
    for value in values:
        dtype = named(value) if not isinstance(value, Known) else None
        if dtype is not None:
            _cast(made, dtype)
            continue
        if isinstance(value, Array):
            made.device = value.device
            continue
        if isinstance(value, Known) and isinstance(value.data, bool):
            continue
        device = device_of(value)
        check_there(device)
        if device is None:
            made.device = None
        elif tensor.device == "meta" and device != "meta":
            raise ViolationError("NotImplementedError", "Cannot copy out of meta tensor; no data!")
        else:
            made.device = device
    return of_graph(made, tensor)


def _cast(made: Array, dtype: str) -> None:
    if made.data is not None and dtype != "bfloat16":
        with np.errstate(all="ignore"):
            made.data = made.data.astype(dtype)
    made.dtype = dtype
    if dtype.startswith(("int", "uint", "bool")):
        made.needs_grad, made.graph = False, ()
        if dtype.startswith("int") and made.low is not None and made.high is not None:
            made.low, made.high = float(int(made.low)), float(int(made.high))
        made.nan = False


def cast(call: Call, tensor: Array) -> Value:
    """In the type that the name of the method says."""
    made = derived(tensor, tensor.shape, keep=True)
    made.is_attained, made.uniques, made.distinct = (
        tensor.is_attained,
        tensor.uniques,
        tensor.distinct,
    )
    made.nan, made.inf, made.data, made.is_contiguous = (
        tensor.nan,
        tensor.inf,
        tensor.data,
        tensor.is_contiguous,
    )
    dtype = TORCH.get(call.name) if call.name != "type" else named(call.first())
    if dtype is not None:
        _cast(made, dtype)
    else:
        made.dtype = None
    return of_graph(made, tensor)


def view(call: Call, tensor: Array) -> Value:
    """In another shape, without a copy where it is a view.

    Raises
    ------
    ViolationError
        If the number of elements does not fit, or a view would need a copy.
    """
    args = call.args
    target = call.kwargs.get("shape") or call.kwargs.get("size")
    if target is None:
        if len(args) == 1 and named(args[0]) is not None and not isinstance(args[0], Known):
            return Unknown()
        target = args[0] if len(args) == 1 else Sequence("tuple", list(args))
    if not call.is_complete:
        return derived(tensor, None)
    shape = reshaped(tensor, shape_of(target))
    made = array_methods.of_shape(tensor, shape)
    made.is_contiguous = True
    if (
        call.name == "view"
        and tensor.is_contiguous is False
        and tensor.shape is not None
        and shape is not None
    ):
        kept = [size for size in tensor.shape if size != 1]
        wanted = [size for size in shape if size != 1]
        if kept != wanted and len(wanted) < len(kept):
            raise ViolationError(
                "RuntimeError", "view size is not compatible with input tensor's size and stride"
            )
    return made


def flatten(call: Call, tensor: Array) -> Value:
    """Axes made one."""
    start, end = call.integer(0, "start_dim", default=0), call.integer(1, "end_dim", default=-1)
    if tensor.shape is None or start is None or end is None:
        return derived(tensor, None)
    first, last = axis_of(tensor, start) or 0, axis_of(tensor, end) or 0
    if first > last:
        raise ViolationError(
            "RuntimeError", "flatten() has invalid args: start_dim cannot come after end_dim"
        )
    part = tensor.shape[first : last + 1]
    total: int | None = 1
    for size in part:
        total = None if total is None or size is None else total * size
    return array_methods.of_shape(tensor, (*tensor.shape[:first], total, *tensor.shape[last + 1 :]))


def reduce(call: Call, tensor: Array) -> Value:
    """Axes summed up."""
    name = call.name
    if tensor.device == "meta" and name == "median":
        return Unknown()
    made = array_methods.reduced_array(call, tensor, 0, name)
    has_dim = bool(call.args) or "dim" in call.kwargs or "axis" in call.kwargs
    if (
        name in ("max", "min", "median", "sort", "topk", "mode")
        and has_dim
        and isinstance(made, Array)
    ):
        if call.args and isinstance(call.args[0], Array):
            return operators.binary("Add", tensor, call.args[0], call.state)
        places = derived(made, made.shape, "int64")
        places.needs_grad, places.graph = False, ()
        return Thing("torch.return_types", {"values": made, "indices": places})
    return made


def same(call: Call, tensor: Array) -> Value:
    """A function of each element."""
    if (
        call.name in FLOATING
        and (facts.kind(tensor) or "f") in "iub"
        and call.name in ("softmax", "log_softmax", "dropout", "norm", "std", "var")
    ):
        raise ViolationError("NotImplementedError", f"{call.name} is not there for {tensor.dtype}")
    if call.name in ("softmax", "log_softmax"):
        axis = call.integer(0, "dim")
        if axis is not None:
            axis_of(tensor, axis)
        elif (
            call.is_complete and call.arg(0, "dim") is None and call.path.startswith("torch.Tensor")
        ):
            raise ViolationError("TypeError", "softmax() is called without dim")
    made = derived(tensor, tensor.shape)
    if call.name in ("sigmoid", "softmax"):
        made.low, made.high = 0.0, 1.0
    if call.name in FLOATING and (facts.kind(tensor) or "f") in "iub":
        made.dtype = "float32"
    low, _high, attained = facts.bounds(tensor)
    if (call.name in ("log", "sqrt") and attained and low is not None and low < 0) or (
        facts.has_nan(tensor) and tensor.size
    ):
        made.nan = True
    made.is_contiguous = True
    return of_graph(made, tensor)


def tests(_call: Call, tensor: Array) -> Value:
    """A test of each element."""
    made = derived(tensor, tensor.shape, "bool")
    made.needs_grad, made.graph, made.is_leaf = False, (), True
    return made


def changed(call: Call, tensor: Array) -> Value:
    """A method that changes the tensor in place."""
    if (
        tensor.needs_grad
        and tensor.is_leaf
        and not call.state.without_grad
        and call.name != "requires_grad_"
    ):
        raise ViolationError(
            "RuntimeError",
            "a leaf Variable that requires grad is being used in an in-place operation.",
        )
    if call.name == "requires_grad_":
        wants = call.flag(0, "requires_grad", default=True)
        if wants and (facts.kind(tensor) or "f") in "iub":
            raise ViolationError(
                "RuntimeError", "only Tensors of floating point dtype can require gradients"
            )
        if wants is False and tensor.is_leaf is False:
            raise ViolationError(
                "RuntimeError", "you can only change requires_grad flags of leaf variables."
            )
        tensor.needs_grad = wants
        return tensor
    if (
        call.name in ("copy_", "add_", "sub_", "mul_", "div_")
        and call.args
        and isinstance(call.args[0], Array)
    ):
        other = call.args[0]
        result = broadcast(tensor, other)
        if result is not None and tensor.shape is not None and result != tensor.shape:
            raise ViolationError(
                "RuntimeError", f"{shown(result)} does not fit into {shown(tensor.shape)}"
            )
        if (
            call.name != "copy_"
            and (facts.kind(tensor) or "f") in "iub"
            and facts.kind(other) == "f"
        ):
            raise ViolationError(
                "RuntimeError", "result type Float can't be cast to the desired output type Long"
            )
    tensor.data, tensor.uniques, tensor.is_attained = None, None, False
    tensor.low = tensor.high = tensor.nan = None
    return tensor


def detached(call: Call, tensor: Array) -> Value:
    """Without a graph, or a copy."""
    made = array_methods.of_shape(tensor, tensor.shape)
    made.is_contiguous = True if call.name in ("clone", "contiguous") else tensor.is_contiguous
    if call.name == "contiguous" and tensor.is_contiguous:
        return tensor
    if call.name == "detach":
        made.needs_grad, made.graph, made.is_leaf = False, (), True
    return made


def numpy(call: Call, tensor: Array) -> Value:
    """As an array of numpy.

    Raises
    ------
    ViolationError
        If it requires a gradient, has no data, or a type that numpy has not.
    """
    if tensor.needs_grad and not call.flag(None, "force"):
        raise ViolationError("RuntimeError", "Can't call numpy() on Tensor that requires grad.")
    if tensor.device == "meta":
        raise ViolationError("TypeError", "can't convert meta device type tensor to numpy.")
    if tensor.dtype == "bfloat16":
        raise ViolationError("TypeError", "Got unsupported ScalarType BFloat16")
    made = array_methods.of_shape(tensor, tensor.shape)
    made.home, made.needs_grad, made.graph, made.device = "numpy", False, (), "cpu"
    return made


def backward(call: Call, tensor: Array) -> Value:
    """The way back.

    Raises
    ------
    ViolationError
        If there is no gradient, the tensor is no scalar, or its graph was freed.
    """
    if tensor.needs_grad is False:
        raise ViolationError(
            "RuntimeError", "element 0 of tensors does not require grad and does not have a grad_fn"
        )
    given = call.arg(0, "gradient")
    if tensor.size is not None and tensor.size != 1 and given is None:
        raise ViolationError(
            "RuntimeError", "grad can be implicitly created only for scalar outputs"
        )
    if any(part.is_freed for part in tensor.graph):
        raise ViolationError("RuntimeError", "Trying to backward through the graph a second time")
    if not call.flag(1, "retain_graph") and not call.flag(None, "create_graph"):
        for part in tensor.graph:
            part.is_freed = True
    return Known(None)


def expand(call: Call, tensor: Array) -> Value:
    """Repeated along axes of size one."""
    shape = shape_of(call.args[0] if len(call.args) == 1 else Sequence("tuple", list(call.args)))
    if shape is None or tensor.shape is None:
        return derived(tensor, None)
    if len(shape) < len(tensor.shape):
        raise ViolationError(
            "RuntimeError", f"{shown(tensor.shape)} cannot be expanded to {shown(shape)}"
        )
    padded = (1,) * (len(shape) - len(tensor.shape)) + tensor.shape
    sizes = []
    for size, wanted in zip(padded, shape, strict=False):
        if wanted == -1:
            sizes.append(size)
        elif size in (1, wanted, None) or wanted is None:
            sizes.append(wanted)
        else:
            raise ViolationError(
                "RuntimeError", f"{shown(tensor.shape)} cannot be expanded to {shown(shape)}"
            )
    return of_graph(derived(tensor, tuple(sizes), keep=True), tensor)


def parts(call: Call, tensor: Array) -> Value:
    """Parts along an axis."""
    name = call.name
    axis = call.integer(0 if name == "unbind" else 1, "dim", default=0)
    if axis is None or tensor.shape is None:
        return Sequence("tuple")
    place = axis_of(tensor, axis) or 0
    size = tensor.shape[place] if tensor.shape else None

    before, after = tensor.shape[:place], tensor.shape[place + 1 :]

    def piece(length: int | None) -> Array:
        rest = (*before, *after) if name == "unbind" else (*before, length, *after)
        made = derived(tensor, rest, keep=True)
        made.is_contiguous = tensor.is_contiguous if place == 0 else None
        return of_graph(made, tensor)

    if name == "unbind":
        return Sequence(
            "tuple", None if size is None or size > 200 else [piece(None) for _ in range(size)]
        )
    given = call.arg(0, "split_size_or_sections", "split_size", "chunks")
    sizes = shape_of(given) if given is not None else None
    if (
        name == "split"
        and isinstance(given, Sequence)
        and sizes is not None
        and size is not None
        and None not in sizes
    ):
        if sum(each or 0 for each in sizes) != size:
            raise ViolationError(
                "RuntimeError", f"split_with_sizes expects split_sizes to sum exactly to {size}"
            )
        return Sequence("tuple", [piece(each) for each in sizes])
    count = sizes[0] if sizes else None
    if count is not None and count <= 0:
        raise ViolationError("RuntimeError", f"{name} of {count}")
    if size is None or count is None:
        return Sequence("tuple")
    step = count if name == "split" else -(-size // count)
    lengths = [min(step, size - start) for start in range(0, size, step)]
    return Sequence("tuple", [piece(each) for each in lengths] if len(lengths) <= 200 else None)


def gather(call: Call, tensor: Array) -> Value:
    """Elements at places along an axis.

    Raises
    ------
    ViolationError
        If a place is not there, or places are no whole numbers.
    """
    axis, index = call.integer(0, "dim"), call.arg(1, "index")
    if not isinstance(index, Array) or axis is None or tensor.shape is None:
        return derived(tensor, None)
    place = axis_of(tensor, axis) or 0
    if facts.kind(index) in ("f", "b"):
        raise ViolationError("RuntimeError", f"places are whole numbers, not {index.dtype}")
    if call.name == "gather" and index.rank is not None and index.rank != tensor.rank:
        raise ViolationError(
            "RuntimeError", "Index tensor must have the same number of dimensions as input tensor"
        )
    size = tensor.shape[place] if tensor.shape else None
    high, low = facts.highest(index), facts.lowest(index)
    if size is not None and ((high is not None and high >= size) or (low is not None and low < 0)):
        wrong = "RuntimeError" if call.name != "index_select" else "IndexError"
        raise ViolationError(
            wrong, f"index {high} is out of bounds for dimension {place} with size {size}"
        )
    shape = (
        index.shape
        if call.name == "gather"
        else (*tensor.shape[:place], index.length, *tensor.shape[place + 1 :])
    )
    return of_graph(derived(tensor, shape, keep=True), tensor)


def counts(_call: Call, tensor: Array) -> Value:
    """How often each whole number occurs."""
    if facts.kind(tensor) == "f":
        raise ViolationError("NotImplementedError", "\"bincount_cpu\" not implemented for 'Float'")
    low = facts.lowest(tensor)
    if (low is not None and low < 0) or (tensor.rank is not None and tensor.rank != 1):
        raise ViolationError(
            "RuntimeError", "bincount only supports 1-d non-negative integral inputs."
        )
    return Array("torch", (None,), "int64")


def drawn(call: Call, tensor: Array) -> Value:
    """Places drawn by shares."""
    count = call.integer(0, "num_samples")
    size = tensor.shape[-1] if tensor.shape else None
    if (
        count is not None
        and size is not None
        and count > size
        and call.flag(1, "replacement") is False
    ):
        raise ViolationError(
            "RuntimeError",
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement",
        )
    low = facts.lowest(tensor)
    if (low is not None and low < 0) or facts.has_nan(tensor):
        raise ViolationError(
            "RuntimeError", "probability tensor contains either `inf`, `nan` or element < 0"
        )
    if facts.kind(tensor) in ("i", "u", "b"):
        raise ViolationError(
            "RuntimeError", "multinomial only supports floating-point dtypes for input"
        )
    return Array("torch", None, "int64", low=0, high=None if size is None else size - 1)


def lengths(call: Call, tensor: Array) -> Value:
    """The shape, an axis of it, or other numbers."""
    shape = array_methods._shape(tensor, "shape", call.state)
    if call.name == "size" and (call.args or call.kwargs):
        axis = call.integer(0, "dim")
        if axis is None or tensor.shape is None:
            return Array("python", (), "int64")
        size = tensor.shape[axis_of(tensor, axis) or 0] if tensor.shape else None
        return Array("python", (), "int64") if size is None else Known(size)
    if call.name == "size":
        return shape
    if call.name in ("dim", "ndimension"):
        return Unknown() if tensor.rank is None else Known(tensor.rank)
    if call.name in ("numel", "nelement"):
        return Unknown() if tensor.size is None else Known(tensor.size)
    return Unknown()


def normed(call: Call, tensor: Array) -> Value:
    """The norm."""
    if (facts.kind(tensor) or "f") in "iub":
        raise ViolationError("RuntimeError", f"norm is not there for {tensor.dtype}")
    axis = call.integer(1, "dim")
    if call.arg(1, "dim") is None:
        return of_graph(derived(tensor, ()), tensor)
    if axis is None:
        return Unknown()
    return of_graph(derived(tensor, reduced(tensor, axis, call.flag(2, "keepdim"))), tensor)


def sorted_(call: Call, tensor: Array) -> Value:
    """Sorted, or the largest."""
    if call.name == "topk":
        count = call.integer(0, "k")
        axis = call.integer(1, "dim", default=-1)
        if count is not None and tensor.shape and axis is not None:
            size = tensor.shape[axis_of(tensor, axis) or 0]
            if size is not None and count > size:
                raise ViolationError("RuntimeError", "selected index k out of range")
    made = derived(tensor, tensor.shape if call.name != "topk" else None, keep=True)
    places = derived(made, made.shape, "int64")
    places.needs_grad, places.graph = False, ()
    return Thing("torch.return_types", {"values": of_graph(made, tensor), "indices": places})


def _of_result(value: Value, name: str, _state: State) -> Value:
    assert isinstance(value, Thing)
    known = value.facts[name]
    return known if isinstance(known, Value) else Unknown()


def _grad(value: Value, name: str, _state: State) -> Value:
    assert isinstance(value, Array)
    known = {"requires_grad": value.needs_grad, "is_leaf": value.is_leaf}
    if name == "device":
        return Thing("torch.device", {"device": value.device})
    if name == "data":
        made = array_methods.of_shape(value, value.shape)
        made.needs_grad, made.graph, made.is_leaf = False, (), True
        return made
    if name in known and known[name] is not None:
        return Known(known[name])
    return Unknown()


def _set_grad(owner: Value, value: Value, _state: State) -> None:
    assert isinstance(owner, Array)
    if isinstance(value, Known) and isinstance(value.data, bool):
        if value.data and (facts.kind(owner) or "f") in "iub":
            raise ViolationError(
                "RuntimeError", "only Tensors of floating point dtype can require gradients"
            )
        owner.needs_grad = value.data


def _wrapped(handler: Handler) -> Callable[[Call, Array], Value]:
    def rule(call: Call, _tensor: Array) -> Value:
        return handler(call)

    return rule


FLOATING: Final = (
    "softmax", "log_softmax", "sigmoid", "tanh", "exp", "log", "sqrt", "sin", "cos", "log1p",
    "reciprocal", "rsqrt", "erf", "log2", "log10", "expm1",
)  # fmt: skip
SAME: Final = (
    *FLOATING, "relu", "abs", "neg", "square", "round", "floor", "ceil", "sign", "pow", "cumsum",
    "nan_to_num", "flip", "roll", "gelu", "leaky_relu", "elu", "silu", "dropout", "normalize",
    "triu", "tril", "masked_fill", "index_fill", "softplus", "relu6", "hardtanh", "logsigmoid",
    "mish", "selu", "threshold",
)  # fmt: skip

METHODS: Final[dict[str, Callable[[Call, Array], Value]]] = {
    **dict.fromkeys(("view", "reshape"), view),
    "flatten": flatten,
    **dict.fromkeys(
        (
            "sum",
            "mean",
            "std",
            "var",
            "min",
            "max",
            "prod",
            "argmax",
            "argmin",
            "any",
            "all",
            "median",
            "amax",
            "amin",
        ),
        reduce,
    ),
    **dict.fromkeys(SAME, same),
    **dict.fromkeys(("isnan", "isfinite", "isinf"), tests),
    **dict.fromkeys(("detach", "clone", "contiguous"), detached),
    "expand": expand,
    **dict.fromkeys(("unbind", "split", "chunk"), parts),
    **dict.fromkeys(("gather", "index_select"), gather),
    "bincount": counts,
    "multinomial": drawn,
    "norm": normed,
    **dict.fromkeys(("sort", "topk"), sorted_),
    "squeeze": _wrapped(array_methods.squeeze),
    "unsqueeze": _wrapped(array_methods.expand),
    "permute": _wrapped(array_methods.transpose),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _wrapped(array_methods.swap)),
    "t": lambda _call, tensor: array_methods.transposed(tensor, None, is_default=True),
    "argsort": _wrapped(array_methods.sort),
    "clamp": _wrapped(array_methods.clip),
    "clip": _wrapped(array_methods.clip),
}

ALONE: Final[dict[str, Callable[[Call, Array], Value]]] = {
    **dict.fromkeys(("to", "cuda", "cpu", "xpu"), to),
    **dict.fromkeys(
        ("float", "double", "long", "int", "half", "bool", "short", "type", "bfloat16", "byte"),
        cast,
    ),
    "numpy": numpy,
    "backward": backward,
    **dict.fromkeys(("size", "dim", "numel", "nelement", "ndimension"), lengths),
    "item": _wrapped(array_methods.item),
    "tolist": _wrapped(array_methods.tolist),
    **dict.fromkeys(
        (
            "requires_grad_",
            "add_",
            "sub_",
            "mul_",
            "div_",
            "zero_",
            "fill_",
            "copy_",
            "clamp_",
            "normal_",
            "uniform_",
            "exp_",
            "sqrt_",
            "relu_",
        ),
        changed,
    ),
}

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"torch.Tensor.{name}": both(rule) for name, rule in (METHODS | ALONE).items()},
    **{
        f"torch.{name}": both(rule)
        for name, rule in METHODS.items()
        if name not in ("view", "t", "expand", "contiguous")
    },
    **{f"torch.nn.functional.{name}": both(same) for name in SAME},
}

PROPERTIES: Final[dict[str, Property]] = {
    **{f"torch.return_types.{name}": _of_result for name in ("values", "indices")},
    **{
        f"torch.Tensor.{name}": _grad
        for name in ("requires_grad", "is_leaf", "device", "data", "grad")
    },
}

WRITERS: Final[dict[str, Writer]] = {"torch.Tensor.requires_grad": _set_grad}
