"""Targets: logits, labels and loss of a forward pass, as the loop or the model gives them."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Final

import torch

KEPT_BYTES: Final = 64 * 2**20  # of logits kept until their gradient; others if the loop keeps them
SHIFTING: Final = ("ForCausalLM", "LMHeadModel")  # ends of classes that compare with the next label


@dataclass(frozen=True)
class Targets:
    """What a loss is computed from."""

    logits: Any
    labels: Any
    loss: Any
    shifted: bool = False

    @property
    def compared(self) -> tuple[Any, Any]:
        """Logits and labels that belong together, without graph: views."""
        logits, labels = self.logits.detach(), self.labels.detach()
        if self.shifted:
            return logits[..., :-1, :], labels[..., 1:]
        return logits, labels

    def read(self, ids: Any) -> Any:
        """The token ids that were read where the compared logits are."""
        return ids[:, :-1] if self.shifted and ids is not None else ids


class Kept:
    """Logits and labels that wait for the gradient at the logits."""

    def __init__(self, targets: Targets) -> None:
        logits, labels = targets.compared
        self._labels = labels
        self._shifted = targets.shifted
        self._whole: Any = None
        self._logits: Any = logits
        if logits.nbytes > KEPT_BYTES:
            self._whole, self._logits = weakref.ref(targets.logits), None

    def take(self, gradient: Any) -> tuple[Any, Any, Any] | None:
        """Gradient, logits and labels; None where the logits are gone. Nothing is kept longer."""
        logits, labels = self._logits, self._labels
        whole = None if self._whole is None else self._whole()
        self._logits = self._labels = self._whole = None
        if logits is None and whole is not None:
            logits = whole.detach()[..., :-1, :] if self._shifted else whole.detach()
        if logits is None or labels is None:
            return None
        return (gradient[..., :-1, :] if self._shifted else gradient), logits, labels


def targets_of(model: Any, arguments: dict[str, Any], output: Any) -> Targets | None:
    """What the output of a model and the arguments it was called with tell; None without a loss."""
    loss = _part(output, "loss")
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
        return None
    logits, labels = _part(output, "logits"), arguments.get("labels")
    if not isinstance(logits, torch.Tensor) or labels is None or logits.dim() < 2:
        return Targets(None, None, loss)
    causal = getattr(model, "loss_type", None) == "ForCausalLM"
    shifted = causal or type(model).__name__.endswith(SHIFTING)
    return Targets(logits, labels, loss, shifted and logits.dim() == 3)


def _part(output: Any, name: str) -> Any:
    if isinstance(output, dict):
        return output.get(name)
    return getattr(output, name, None)
