"""Calling: a mapping is passed by keywords; of a pair the first is input, the second the target."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from torch import Tensor, nn

from failbench.errors import BadInputError

# keys and fields of a batch with what a loss compares outputs with; the first there counts
TARGETS: Final = ("labels", "label", "targets", "target", "y")
Forward = Callable[[Any, Any], Any]
Loss = Callable[[Any, Any], Any]


def outputs_of(model: nn.Module, batch: Any, forward: Forward | None, *, has_loss: bool) -> Any:
    """What a model gives for a batch."""
    if forward is not None:
        return forward(model, batch)
    if isinstance(batch, Mapping):
        key = _target_key(batch)
        left_out = {key} if has_loss and key and not _takes(model, key) else set()
        return model(**{name: value for name, value in batch.items() if name not in left_out})
    if isinstance(batch, list | tuple) and len(batch) == 2:
        return model(batch[0])
    return model(batch)


def loss_of(outputs: Any, batch: Any, loss: Loss | None) -> Any:
    """The loss of outputs."""
    if loss is not None:
        scores = outputs.logits if isinstance(getattr(outputs, "logits", None), Tensor) else outputs
        return loss(scores, targets_of(batch))
    if isinstance(outputs, Tensor):
        return outputs
    value = outputs.get("loss") if isinstance(outputs, Mapping) else getattr(outputs, "loss", None)
    if value is None and isinstance(outputs, tuple) and outputs and isinstance(outputs[0], Tensor):
        value = outputs[0]
    if value is None:
        raise BadInputError(
            "preflight",
            "loss",
            "is None, and the outputs of the model have no loss.",
            "Give a function of outputs and targets, or labels to a model that computes its own.",
        )
    return value


def targets_of(batch: Any) -> Any:
    """What a loss compares outputs with."""
    if isinstance(batch, Mapping):
        key = _target_key(batch)
        return batch if key is None else batch[key]
    if isinstance(batch, list | tuple) and len(batch) == 2:
        return batch[1]
    for name in TARGETS:
        if isinstance(getattr(batch, name, None), Tensor):
            return getattr(batch, name)
    return batch


def _target_key(batch: Mapping[str, Any]) -> str | None:
    return next((name for name in TARGETS if name in batch), None)


def _takes(model: nn.Module, key: str) -> bool:
    parameters = inspect.signature(model.forward).parameters
    return key in parameters or any(
        each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()
    )
