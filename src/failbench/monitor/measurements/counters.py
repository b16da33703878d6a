"""Measurements of an optimizer's own counters: how far they move in a step."""

from __future__ import annotations

from statistics import median
from typing import Any

from failbench.monitor.measurements.updates import counters_of


class CounterMeasurement:
    """Measures the counters of one optimizer between checks."""

    def __init__(self) -> None:
        self._known: dict[int, float] | None = None
        self._steps = 0

    def begin(self, optimizer: Any) -> None:
        """Read the counters, if this is the first step that is measured."""
        if self._known is None:
            parameters = [each for group in optimizer.param_groups for each in group["params"]]
            counts = counters_of(optimizer, parameters)
            self._known = {id(each): count for each, count in zip(parameters, counts, strict=True)}
            self._steps = 0

    def count(self) -> None:
        """A step was made."""
        self._steps += 1

    def end(self, optimizer: Any) -> dict[str, float]:
        """Compare with the check before; nothing without counters."""
        known, steps = self._known, self._steps
        groups = _read(optimizer)
        self._known = {key: count for group in groups for key, count in group}
        self._steps = 0
        if known is None or not steps:
            return {}
        moves = [
            median([(count - known[key]) / steps for key, count in members])
            for group in groups
            if (members := [(key, count) for key, count in group if key in known])
        ]
        return {"state_steps": max(moves, key=lambda move: abs(move - 1))} if moves else {}


def _read(optimizer: Any) -> list[list[tuple[int, float]]]:
    groups = []
    for group in optimizer.param_groups:
        counting = [each for each in group["params"] if "step" in optimizer.state.get(each, {})]
        counts = counters_of(optimizer, counting)
        groups.append([(id(each), count) for each, count in zip(counting, counts, strict=True)])
    return groups
