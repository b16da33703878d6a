"""Standing: how an invariant with a bound of its own stands, from one measurement to the next.

The same as :func:`failbench.monitor.breaks.breaks` says of all measurements at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from failbench.monitor.breaks import Break
from failbench.monitor.invariants import Invariant


@dataclass(frozen=True)
class Standing:
    """What the measurements so far left of an invariant."""

    invariant: Invariant
    count: int = 0
    first: float = math.nan
    largest: float = -math.inf
    above: int = 0
    below: int = 0
    broken: Break | None = None

    def after(self, step: int, values: Mapping[str, float]) -> Standing:
        """How it stands after a step, of which some signals were measured."""
        invariant = self.invariant
        value = values.get(invariant.signal)
        if value is None or (invariant.presumes and values.get(invariant.presumes, 0) != 0):
            return self if self.broken is None else replace(self, broken=None)
        bound = invariant.bound
        if bound is None:
            raise ValueError(f"{invariant.id} has no bound of its own")
        held, undefined = self._compared(value), math.isnan(value)
        above = self.above + 1 if held > bound.high or undefined else 0
        below = self.below + 1 if held < bound.low or undefined else 0
        is_broken = max(above, below) >= invariant.rows
        return Standing(
            invariant,
            self.count + 1,
            self.first if self.count else value,
            math.nan if math.isnan(self.largest) or undefined else max(self.largest, value),
            above,
            below,
            Break(invariant, step, value, held, bound) if is_broken else None,
        )

    def _compared(self, value: float) -> float:
        if self.invariant.against == "value":
            return value
        if self.invariant.against == "first":
            return value - (self.first if self.count else value)
        return value - self.largest if self.count > 1 else math.nan
