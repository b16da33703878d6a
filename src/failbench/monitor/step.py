"""Step: the signals of one training step while it lasts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from failbench.monitor.clock import Counts
from failbench.monitor.signals import Phase

MEANS: Final = frozenset(  # signals whose value is the mean of several in a step
    {
        "padding_share",
        "unknown_share",
        "token_surprise",
        "pair_surprise",
        "labels_ignored",
        "labels_same",
        "loss",
        "output_entropy",
        "logit_gradient_scale",
        "activation_rms",
        "evaluation_loss",
        "evaluation_surprise",
    }
)

SMALLEST: Final = frozenset({"token_min", "distinct_share", "weight_spread", "activation_spread"})
"""Signals whose value is then the smallest."""

AROUND_ONE: Final = frozenset({"labels_next", "loss_ratio", "state_steps", "evaluation_loss_ratio"})
"""Signals whose value is then the one farthest from 1. Of all others it is the largest."""


@dataclass
class Step:
    """A step while it lasts."""

    number: int
    memory: float | None = None
    counts: Counts | None = None
    values: dict[str, float] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    seconds: dict[Phase, tuple[float, float]] = field(default_factory=dict)
    peaks: dict[Phase, float] = field(default_factory=dict)
    forwards: int = 0
    backwards: int = 0
    stepped: bool = False
    evaluated: bool = False

    def add(self, values: Mapping[str, float], times: Mapping[str, int] | None = None) -> None:
        """Add measured signals; of several values of one, the mean or the worst remains."""
        for name, value in values.items():
            before, new = self.times.get(name, 0), 1 if times is None else times[name]
            self.values[name] = (
                _together(name, self.values[name], before, value, new) if before else value
            )
            self.times[name] = before + new

    def spend(self, phase: Phase, busy: float, blocked: float, highest: float | None) -> None:
        """Add the time and the memory of a phase that ends."""
        before = self.seconds.get(phase, (0.0, 0.0))
        self.seconds[phase] = before[0] + busy, before[1] + blocked
        if highest is not None and self.memory is not None:
            above = highest - self.memory
            self.peaks[phase] = max(self.peaks.get(phase, above), above)

    def join(self, other: Step) -> None:
        """Add what was measured of a later batch of the same step."""
        self.add(other.values, other.times)
        for phase, (busy, blocked) in other.seconds.items():
            self.spend(phase, busy, blocked, None)
        if self.memory is not None and other.memory is not None:
            for phase, peak in other.peaks.items():
                self.spend(phase, 0, 0, peak + other.memory)
        self.evaluated |= other.evaluated

    def measured(self) -> dict[str, float]:
        """All signals of the step but those that are read at its end."""
        passes = {"forwards": float(self.forwards), "backwards": float(self.backwards)}
        busy = {f"busy_{phase}": seconds for phase, (seconds, _) in self.seconds.items()}
        blocked = {f"blocked_{phase}": seconds for phase, (_, seconds) in self.seconds.items()}
        peaks = {f"memory_{phase}": peak for phase, peak in self.peaks.items()}
        return {**self.values, **passes, **busy, **blocked, **peaks}


def _together(name: str, old: float, before: int, value: float, new: int) -> float:
    """One value for a signal that was measured several times."""
    if math.isnan(old) or math.isnan(value):
        return math.nan
    if name in MEANS:
        return (old * before + value * new) / (before + new)
    if name in SMALLEST:
        return min(old, value)
    if name in AROUND_ONE:
        return max(old, value, key=lambda number: abs(number - 1))
    return max(old, value)
