"""Activations: the measurement of a model's activations, which runs inside of its forward pass."""

from __future__ import annotations

from typing import Any

from failbench.monitor.guard import Guard
from failbench.monitor.measurements.activations import ActivationMeasurement


class Activations(ActivationMeasurement):
    """Measures activations so that the forward pass does not fail with it."""

    def __init__(self, model: Any, guard: Guard) -> None:
        super().__init__(model)
        self._guard = guard

    def _see(self, module: Any, inputs: Any, result: Any) -> None:
        self._guard.measure("activations", super()._see, module, inputs, result)
