"""Methods of tensors, and functions of torch of the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from failbench.crashes.rules.arrays import methods as array_methods
from failbench.crashes.rules.arrays import shaping
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.networks.conversions import cast, detached, numpy, to
from failbench.crashes.rules.networks.gradients import backward
from failbench.crashes.rules.networks.tensor_elements import (
    FLOATING,
    changed,
    counts,
    drawn,
    normed,
    reduce,
    same,
    sorted_,
    tests,
)
from failbench.crashes.rules.networks.tensor_shapes import (
    expand,
    flatten,
    gather,
    lengths,
    parts,
    view,
)


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


def _wrapped(handler: Handler) -> Callable[[Call, Array], Value]:
    def rule(call: Call, _tensor: Array) -> Value:
        return handler(call)

    return rule


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
    "squeeze": _wrapped(shaping.squeeze),
    "unsqueeze": _wrapped(shaping.expand),
    "permute": _wrapped(shaping.transpose),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), _wrapped(shaping.swap)),
    "t": lambda _call, tensor: shaping.transposed(tensor, None, is_default=True),
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
