"""Losses: what is measured of logits, labels and loss of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from failbench.monitor.guard import Guard
from failbench.monitor.hooks import Hooks
from failbench.monitor.inputs import Inputs
from failbench.monitor.measurements.labels import measure_labels
from failbench.monitor.measurements.loss import (
    classes_last,
    measure_logit_gradient,
    measure_loss,
    measure_output,
)
from failbench.monitor.steps import Steps
from failbench.monitor.targets import Kept, Targets


class Losses:
    """Measures each loss of training."""

    def __init__(
        self,
        guard: Guard,
        steps: Steps,
        hooks: Hooks,
        inputs: Inputs,
        padding: int | None,
    ) -> None:
        self._guard = guard
        self._steps = steps
        self._hooks = hooks
        self._inputs = inputs
        self._padding = padding

    def measure(self, targets: Targets) -> None:
        """Measure a loss, and at a check the gradient at its logits when it is there."""
        self._hooks.attach_output(targets.loss)
        values = self._guard.values("loss", lambda: {"loss": float(targets.loss.detach())})
        self._steps.current.add(values)
        if values and "batch" in self._guard.notice(values["loss"]):
            self._inputs.measure_again()
        if targets.logits is None or targets.labels is None:
            return
        self._add("labels", self._labels, targets)
        self._add("recomputed loss", lambda: measure_loss(*targets.compared, targets.loss))
        if self._steps.check:
            self._add("output", lambda: measure_output(*targets.compared))
            if self._guard.measures("logit gradient"):
                kept = Kept(targets)
                self._hooks.attach_gradient(
                    targets.logits, lambda gradient: self._gradient(kept, gradient)
                )

    def _gradient(self, kept: Kept, gradient: Any) -> None:
        taken = kept.take(gradient)
        if taken is not None:
            self._add("logit gradient", measure_logit_gradient, *taken)

    def _labels(self, targets: Targets) -> dict[str, float]:
        logits, labels = targets.compared
        classes = classes_last(logits, labels)[0].shape[-1]
        ids = targets.read(self._inputs.ids(targets.labels.shape))
        return measure_labels(ids, labels, classes, self._padding)

    def _add(self, measurement: str, function: Callable[..., Any], *args: Any) -> None:
        self._steps.current.add(self._guard.values(measurement, function, *args))
