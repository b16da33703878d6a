"""What differs between two values: where, both of them, and how far beyond what may differ."""

from __future__ import annotations

import math
from dataclasses import dataclass

from failbench.reproduction.tolerances import Tolerance

CHANGED = math.inf
"""The share of its tolerance that a value has used which has none: a text, an answer, a count."""


@dataclass(frozen=True)
class Difference:
    """One value of a file that is not the committed one.

    Parameters
    ----------
    place
        Row, line or element of the file; empty where the field says it all.
    field
        Column or key.
    committed, regenerated
        Both values, as text.
    share
        The difference as a share of what is allowed; above 1 it is a change.
    """

    place: str
    field: str
    committed: str
    regenerated: str
    share: float = CHANGED

    @property
    def within(self) -> bool:
        """Whether another processor may have made it."""
        return self.share <= 1

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.place, self.field) if part)
        return f"{where}: {self.committed} -> {self.regenerated}"


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
