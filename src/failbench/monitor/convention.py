"""Convention: how the loss in the output of a model belongs to its logits and its labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import torch

from failbench.monitor.guard import Guard
from failbench.monitor.measurements.labels import IGNORED
from failbench.monitor.measurements.loss import measure_loss
from failbench.monitor.targets import Targets, targets_of

AGREES: Final = 1e-3  # a loss that is computed from logits is recomputed to this share of it
DIVISOR: Final = "num_items_in_batch"  # how many labels all batches of a step have, to divide by

COMPARED: Final = ("labels", "recomputed loss", "logit gradient")
"""Measurements that need to know which logits belong to which labels."""

UNKNOWN: Final = (
    "the loss in the model's output is the mean cross-entropy of its logits and labels neither as "
    "they are nor shifted by one: give logits, labels and loss to monitor.loss"
)


class Convention:
    """Tells what the loss of a model's output was computed from."""

    # The first loss is recomputed with each logit compared with the label beside it, and the next
    # one: what agrees is kept, or else the convention of the model's name; without it nothing is
    # compared.

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._shifted: bool | None = None
        self._compared = True

    def targets(self, model: Any, arguments: dict[str, Any], output: Any) -> Targets | None:
        """What a model's output and arguments tell; None without a loss."""
        # A loss divided by an accumulated step's labels is given as the mean of its batch.
        targets = targets_of(model, arguments, output)
        if targets is None or targets.logits is None:
            return targets
        if self._shifted is None and bool(torch.isfinite(targets.loss).all()):
            self._guard.measure("recomputed loss", self._decide, targets, arguments)
        if not self._compared:
            return Targets(None, None, targets.loss)
        shifted = targets.shifted if self._shifted is None else self._shifted
        return _as_mean(replace(targets, shifted=shifted), arguments)

    def _decide(self, targets: Targets, arguments: dict[str, Any]) -> None:
        named = targets.shifted
        errors = {
            shifted: _error(_as_mean(replace(targets, shifted=shifted), arguments))
            for shifted in ((False, True) if targets.logits.dim() == 3 else (False,))
        }
        best = min(errors, key=lambda shifted: errors[shifted])
        self._shifted = best if errors[best] <= AGREES else named
        if errors[best] > AGREES and not named:
            self._compared = False
            for measurement in COMPARED:
                self._guard.turn_off_measurement(measurement, UNKNOWN)


def _error(targets: Targets) -> float:
    """By how much a loss differs from the recomputed one; infinite where they do not compare."""
    try:
        ratio = measure_loss(*targets.compared, targets.loss).get("loss_ratio")
    except ValueError:  # shapes that do not fit
        return float("inf")
    return float("inf") if ratio is None or ratio != ratio else abs(ratio - 1)


def _as_mean(targets: Targets, arguments: dict[str, Any]) -> Targets:
    divisor = arguments.get(DIVISOR)
    if not isinstance(divisor, torch.Tensor) or divisor.numel() != 1:
        return targets
    labels = targets.compared[1]
    count = (labels != IGNORED).sum().clamp(min=1)
    return replace(targets, loss=targets.loss.detach() * divisor / count)
