"""Losses of torch, as functions and as modules."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation import operands
from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.devices import check_same_device
from failbench.crashes.rules.knowledge.shapes import broadcast, derived, of_graph, shown
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Sequence, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings

WORDS: Final = ("none", "mean", "sum")


def loss_of(name: str, guess: Value, target: Value, given: dict[str, Value]) -> Value:
    """A loss.

    Raises
    ------
    ViolationError
        If shapes, types, classes or probabilities do not go together.
    """
    for each in (guess, target):
        if isinstance(each, (Known, Sequence, Frame)) or (
            isinstance(each, Array) and each.home not in ("torch",)
        ):
            raise ViolationError("TypeError", f"{name} is of tensors")
    if not isinstance(guess, Array) or not isinstance(target, Array):
        return Array("torch", (), None, device=None, needs_grad=None, is_leaf=None)
    check_same_device(guess, target)
    reduction = settings.constant(given.get("reduction", Known("mean")))
    if (
        isinstance(reduction, str)
        and reduction not in WORDS
        and not (name == "kl_div" and reduction == "batchmean")
    ):
        raise ViolationError("ValueError", f"{reduction} is not a valid value for reduction")
    if name in ("cross_entropy", "nll_loss"):
        _classes(name, guess, target, given)
    elif name.startswith("binary"):
        _binary(name, guess, target)
    else:
        broadcast(guess, target)
        if (
            facts.kind(guess) in ("i", "u", "b")
            and facts.kind(target) in ("i", "u", "b")
            and name == "mse_loss"
        ):
            raise ViolationError("NotImplementedError", "\"mse_cpu\" not implemented for 'Long'")
    made = derived(guess, () if reduction != "none" else None)
    return of_graph(made, guess, target)


def _classes(name: str, guess: Array, target: Array, given: dict[str, Value]) -> None:
    count = None
    if guess.shape is not None:
        place = 1 if len(guess.shape) > 1 else 0
        count = guess.shape[place] if guess.shape else None
    kind = facts.kind(target)
    same = guess.shape is not None and target.shape is not None and guess.shape == target.shape
    if guess.shape is not None and target.shape is not None and not same:
        _check_shapes(guess, target)
    if same and name == "cross_entropy":
        if kind in ("i", "u", "b") and len(guess.shape or ()) > 1:
            raise ViolationError(
                "RuntimeError", "Expected floating point type for target with class probabilities"
            )
        return
    if kind in ("f", "b") or target.dtype in ("int32", "int16", "int8"):
        raise ViolationError(
            "RuntimeError", f"expected target dtype to be Long or Byte, but got {target.dtype}"
        )
    if kind is not None and facts.kind(guess) in ("i", "u", "b"):
        raise ViolationError("NotImplementedError", f"{name} is not there for {guess.dtype}")
    ignored = settings.constant(given.get("ignore_index", Known(-100)))
    high, low = facts.highest(target), facts.lowest(target)
    if count is not None and high is not None and high >= count and high != ignored:
        raise ViolationError("IndexError", f"Target {high:g} is out of bounds.")
    if low is not None and low < 0 and low != ignored:
        raise ViolationError("IndexError", f"Target {low:g} is out of bounds.")
    weight = given.get("weight")
    if (
        isinstance(weight, Array)
        and weight.length is not None
        and count is not None
        and weight.length != count
    ):
        raise ViolationError(
            "RuntimeError",
            f"weight tensor should be defined either for all {count} classes or no classes",
        )
    if isinstance(weight, Array) and weight.dtype and guess.dtype and weight.dtype != guess.dtype:
        raise ViolationError(
            "RuntimeError", f"expected scalar type {guess.dtype} but found {weight.dtype}"
        )


def _check_shapes(guess: Array, target: Array) -> None:
    assert guess.shape is not None
    assert target.shape is not None
    if len(guess.shape) == 1:
        return
    first, second = guess.shape[0], target.shape[0] if target.shape else None
    if not target.shape:
        raise ViolationError(
            "ValueError", f"Expected input batch_size ({first}) to match target batch_size (1)."
        )
    if first is not None and second is not None and first != second:
        raise ViolationError(
            "ValueError",
            f"Expected input batch_size ({first}) to match target batch_size ({second}).",
        )
    if len(guess.shape) == 2 and len(target.shape) == 2:
        raise ViolationError(
            "RuntimeError", "0D or 1D target tensor expected, multi-target not supported"
        )
    if len(guess.shape) > 2:
        wanted = (guess.shape[0], *guess.shape[2:])
        if len(wanted) != len(target.shape):
            raise ViolationError(
                "RuntimeError", f"a target of {shown(wanted)} is due, not {shown(target.shape)}"
            )
        if any(
            a is not None and b is not None and a != b
            for a, b in zip(wanted, target.shape, strict=False)
        ):
            raise ViolationError(
                "RuntimeError", f"a target of {shown(wanted)} is due, not {shown(target.shape)}"
            )


def _binary(name: str, guess: Array, target: Array) -> None:
    if guess.shape is not None and target.shape is not None:
        differ = len(guess.shape) != len(target.shape) or any(
            a is not None and b is not None and a != b
            for a, b in zip(guess.shape, target.shape, strict=False)
        )
        if differ:
            raise ViolationError(
                "ValueError", f"a target of {shown(guess.shape)} is due, not {shown(target.shape)}"
            )
    if facts.kind(target) in ("i", "u", "b"):
        raise ViolationError("RuntimeError", f"the target is {target.dtype} and no float")
    if (
        guess.dtype is not None
        and target.dtype is not None
        and guess.dtype != target.dtype
        and name == "binary_cross_entropy"
    ):
        raise ViolationError(
            "RuntimeError", f"Found dtype {target.dtype} but expected {guess.dtype}"
        )
    if name == "binary_cross_entropy":
        for each, what in ((guess, "input"), (target, "target")):
            low, high = facts.lowest(each), facts.highest(each)
            if (low is not None and low < 0) or (high is not None and high > 1):
                raise ViolationError(
                    "RuntimeError", f"all elements of {what} should be between 0 and 1"
                )


def function(call: Call) -> Value:
    """A loss as a function."""
    guess, target = call.arg(0, "input"), call.arg(1, "target")
    return loss_of(call.name, guess or Unknown(), target or Unknown(), call.kwargs)


def one_hot(call: Call) -> Value:
    """Codes as indicators.

    Raises
    ------
    ViolationError
        If codes are no whole numbers, or beyond the number of classes.
    """
    codes = operands.as_array(call.first())
    count = call.integer(1, "num_classes", default=-1)
    if codes is None:
        return Unknown()
    if codes.dtype is not None and codes.dtype != "int64":
        raise ViolationError(
            "RuntimeError", "one_hot is only applicable to index tensor of type LongTensor."
        )
    high, low = facts.highest(codes), facts.lowest(codes)
    if low is not None and low < 0:
        raise ViolationError("RuntimeError", "Class values must be non-negative.")
    if count is not None and count != -1 and high is not None and high >= count:
        raise ViolationError("RuntimeError", "Class values must be smaller than num_classes.")
    width = int(high) + 1 if count == -1 and high is not None else count if count != -1 else None
    return Array("torch", None if codes.shape is None else (*codes.shape, width), "int64")


NAMES: Final = {
    "cross_entropy": "CrossEntropyLoss", "nll_loss": "NLLLoss", "mse_loss": "MSELoss", "l1_loss":
    "L1Loss", "binary_cross_entropy": "BCELoss", "binary_cross_entropy_with_logits":
    "BCEWithLogitsLoss", "smooth_l1_loss": "SmoothL1Loss", "huber_loss": "HuberLoss", "kl_div":
    "KLDivLoss", "soft_margin_loss": "SoftMarginLoss", "poisson_nll_loss": "PoissonNLLLoss",
}  # fmt: skip
"""Functions, and the modules that do the same."""

FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"torch.nn.functional.{name}": function for name in NAMES},
    "torch.nn.functional.one_hot": one_hot,
}
