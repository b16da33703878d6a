"""Checks: what a signal of a log must not do, each a statement about one series, and its bound.

``data/checks.csv`` is the catalogue. A bound is a number where its meaning gives one, and
``fitted`` where logs of healthy runs do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import BeforeValidator

from failbench.base.arrays import Array, Mask
from failbench.base.records import Record, packaged_rows
from failbench.causes.catalogue import CauseNames
from failbench.causes.support import Strength
from failbench.monitor.bounds import widened

# distance of a bound from the usual amount at least: where no healthy log strays at all, one that
# does so by the last digit of a number has not strayed either
TIGHTEST: Final = 1e-6


class Check(Record):
    """Something that a healthy log does not show, for some rows in a row.

    What a value is held ``against`` is a name of :data:`failbench.diagnose.series.COMPARISONS`.
    """

    id: str
    signal: str
    against: str
    relation: Literal["above", "below"]
    bound: Annotated[float | None, BeforeValidator(lambda cell: None if cell == "fitted" else cell)]
    rows: int
    strength: Strength
    causes: CauseNames
    statement: str

    @property
    def sign(self) -> float:
        """By which amounts are multiplied: larger ones are always more extreme."""
        return 1.0 if self.relation == "above" else -1.0


class CheckBound(Record):
    """What amounts of a check mean."""

    usual: float
    limit: float

    def nearness(self, amount: float) -> float:
        """How near an amount is to the limit: 0 as usual or better, 1 at it, 2 far beyond."""
        if self.limit - self.usual <= TIGHTEST:
            return 2.0 if amount > self.limit else 0.0
        return float(np.clip((amount - self.usual) / (self.limit - self.usual), 0.0, 2.0))


@cache
def checks() -> dict[str, Check]:
    """The catalogue by names."""
    return {row.id: row for row in packaged_rows("failbench.diagnose", "checks.csv", Check)}


def fitted_bounds(
    checks: Mapping[str, Check],
    amounts: Mapping[str, Array],
    healthy: Mask,
    margin: float,
) -> dict[str, CheckBound]:
    """Bounds of healthy logs."""
    fitted = {}
    for name, check in checks.items():
        of_healthy = amounts[name][healthy]
        of_healthy = of_healthy[np.isfinite(of_healthy)]
        if check.bound is not None:
            # what a number says by its meaning is so or is not: nothing is near such a bound
            usual = check.sign * check.bound
            fitted[name] = CheckBound(usual=usual, limit=usual + TIGHTEST)
        elif len(of_healthy):
            usual = float(np.median(of_healthy))
            limit = max(widened(of_healthy, margin), usual + TIGHTEST)
            fitted[name] = CheckBound(usual=usual, limit=limit)
    return fitted
