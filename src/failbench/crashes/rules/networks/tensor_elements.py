"""Elements of tensors: reduced, changed, counted, drawn and ordered."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.arrays import reductions
from failbench.crashes.rules.evaluation import arithmetic
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.shapes import (
    axis_of,
    broadcast,
    derived,
    of_graph,
    reduced,
    shown,
)
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Thing, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError


def reduce(call: Call, tensor: Array) -> Value:
    """Axes summed up."""
    name = call.name
    if tensor.device == "meta" and name == "median":
        return Unknown()
    made = reductions.reduced_array(call, tensor, 0, name)
    has_dim = bool(call.args) or "dim" in call.kwargs or "axis" in call.kwargs
    if (
        name in ("max", "min", "median", "sort", "topk", "mode")
        and has_dim
        and isinstance(made, Array)
    ):
        if call.args and isinstance(call.args[0], Array):
            return arithmetic.binary("Add", tensor, call.args[0], call.state)
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


FLOATING: Final = (
    "softmax", "log_softmax", "sigmoid", "tanh", "exp", "log", "sqrt", "sin", "cos", "log1p",
    "reciprocal", "rsqrt", "erf", "log2", "log10", "expm1",
)  # fmt: skip
