"""Measurements of optimizers: gradients, hyper-parameters, state and steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from failbench.monitor.measurements.counters import CounterMeasurement
from failbench.monitor.measurements.gradients import count_left, measure_gradients
from failbench.monitor.measurements.groups import GroupMeasurement
from failbench.monitor.measurements.members import Members
from failbench.monitor.measurements.updates import UpdateMeasurement


class OptimizerMeasurement:
    """Measures steps of a model's optimizers: gradients and groups of all, a step of its own."""

    def __init__(self, model: nn.Module, optimizers: Sequence[Any]) -> None:
        self._members = Members(model)
        self._groups = GroupMeasurement(optimizers)
        self._updates: WeakKeyDictionary[Any, UpdateMeasurement] = WeakKeyDictionary()
        self._counters: WeakKeyDictionary[Any, CounterMeasurement] = WeakKeyDictionary()
        self._moved: dict[str, float] = {}
        self._begun = False
        self._stepped = False

    def before_step(self, optimizer: Any, check: bool, closure: bool = False) -> dict[str, float]:
        """Measure what an optimizer's step begins with."""
        parameters = self._members.parameters
        values = self._groups.measure(parameters)
        if not closure:
            values |= measure_gradients(parameters, _scale(optimizer))
        update = self._updates.get(optimizer)
        if update is not None:
            moved = update.moved_since()
            if moved is not None:
                self._moved = {"weights_moved_outside": moved}
                values |= self._moved
        self._begun = check and not closure and not _skips(optimizer)
        if self._begun:
            values |= self._moved
            if update is None or not update.fits(optimizer):
                update = self._updates[optimizer] = UpdateMeasurement(optimizer)
            update.begin(optimizer, _scale(optimizer))
            self._counters.setdefault(optimizer, CounterMeasurement()).begin(optimizer)
        return values

    def after_step(self, optimizer: Any, check: bool, closure: bool = False) -> dict[str, float]:
        """Measure what an optimizer's step did."""
        self._stepped = True
        values = {}
        if closure:
            values = measure_gradients(self._members.parameters, _scale(optimizer))
        counters = self._counters.get(optimizer)
        if counters is not None and not _skips(optimizer):
            counters.count()
        begun, self._begun = self._begun and check, False
        if begun and counters is not None:
            values |= self._updates[optimizer].end()
            values |= counters.end(optimizer)
        return values

    def waits(self, optimizer: Any) -> bool:
        """Whether what moves until an optimizer's next step is still to be measured."""
        update = self._updates.get(optimizer)
        return update is not None and update.waits

    def moved(self, optimizer: Any) -> dict[str, float]:
        """Measure what moved since a step that was measured, when one begins that is not."""
        moved = self._updates[optimizer].moved_since()
        if moved is None:
            return {}
        self._moved = {"weights_moved_outside": moved}
        return self._moved

    def count(self, optimizer: Any) -> dict[str, float]:
        """Count a step that is not measured."""
        self._begun, self._stepped = False, True
        counters = self._counters.get(optimizer)
        if counters is not None and not _skips(optimizer):
            counters.count()
        return {}

    def at_backward(self) -> dict[str, float]:
        """Measure the gradients that are left, if a step was made since this was last asked."""
        if not self._stepped:
            return {}
        self._stepped = False
        return {"gradients_left": count_left(self._members.parameters)}


def _scale(optimizer: Any) -> float:
    """What a fused optimizer divides gradients by itself, told by ``torch.amp.GradScaler``."""
    scale = getattr(optimizer, "grad_scale", None)
    return float(scale) if isinstance(scale, torch.Tensor) else 1.0


def _skips(optimizer: Any) -> bool:
    """Whether a fused optimizer will leave all as it is, as the scaler found infinite gradients."""
    found = getattr(optimizer, "found_inf", None)
    return isinstance(found, torch.Tensor) and bool(found)
