"""Differences: location, both values, and the distance relative to the tolerance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from failbench.publish.reproduction.tolerances import Tolerance

CHANGED = math.inf
"""Share of the tolerance for values without tolerance: texts, answers, counts."""


@dataclass(frozen=True)
class Difference:
    """One value of a file that differs from the committed one."""

    place: str
    field: str
    committed: str
    regenerated: str
    share: float = CHANGED

    @property
    def within(self) -> bool:
        """Whether it is within the tolerance between processors."""
        return self.share <= 1

    def __str__(self) -> str:
        location = ", ".join(part for part in (self.place, self.field) if part)
        return f"{location}: {self.committed} -> {self.regenerated}"


def share_of(committed: float, regenerated: float, tolerance: Tolerance) -> float:
    """The difference of two numbers as a share of their tolerance; NaN equals NaN.

    Examples
    --------
    >>> share_of(1.0, 1.5, Tolerance(absolute=1.0, relative=0.0))
    0.5
    >>> share_of(1.0, 1.5, Tolerance(absolute=0.0, relative=0.0))
    inf
    """
    if committed == regenerated or (math.isnan(committed) and math.isnan(regenerated)):
        return 0.0
    if not (math.isfinite(committed) and math.isfinite(regenerated)):
        return CHANGED
    allowed = tolerance.allowed(committed, regenerated)
    return abs(committed - regenerated) / allowed if allowed else CHANGED
