"""Bounds: where checks break, from logs of healthy runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from failbench.base.arrays import Array, Mask
from failbench.base.records import Record
from failbench.diagnose.checks import Check
from failbench.diagnose.series import Compared
from failbench.monitor.bounds import widened

TIGHTEST: Final = 1e-6
"""Distance of a bound from the usual amount at least: where no healthy log strays at all, one that
does so by the last digit of a number has not strayed either."""


class CheckBound(Record):
    """What amounts of a check mean."""

    usual: float
    limit: float

    def nearness(self, amount: float) -> float:
        """How near an amount is to the limit: 0 as usual or better, 1 at it, 2 far beyond."""
        if self.limit - self.usual <= TIGHTEST:
            return 2.0 if amount > self.limit else 0.0
        return float(np.clip((amount - self.usual) / (self.limit - self.usual), 0.0, 2.0))


def lasting(check: Check, held: Compared) -> Array:
    """Amounts of shape (n,), the largest of which is the most extreme that lasted for the rows.

    No number where the check has nothing to compare.
    """
    amounts = held.amounts if check.relation == "above" else -held.amounts
    if check.rows == 1 or len(amounts) < check.rows:
        return amounts if check.rows == 1 else np.full(len(amounts), np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(amounts, check.rows).min(axis=1)
    return np.concatenate([np.full(check.rows - 1, np.nan), windows])


def most_extreme(check: Check, held: Compared) -> float | None:
    """The most extreme amount of a series, with the sign of its check; None without any.

    Amounts of checks that break below their bound are negated: larger is always more extreme.
    """
    amounts = lasting(check, held)
    known = amounts[np.isfinite(amounts)]
    return float(known.max()) if len(known) else None


def fitted_bounds(
    checks: Mapping[str, Check],
    amounts: Mapping[str, Array],
    healthy: Mask,
    margin: float,
) -> dict[str, CheckBound]:
    """Bounds of healthy logs."""
    fitted = {}
    for name, check in checks.items():
        sign = 1.0 if check.relation == "above" else -1.0
        of_healthy = amounts[name][healthy]
        of_healthy = of_healthy[np.isfinite(of_healthy)]
        if check.bound is not None:
            # what a number says by its meaning is so or is not: nothing is near such a bound
            usual = sign * check.bound
            fitted[name] = CheckBound(usual=usual, limit=usual + TIGHTEST)
        elif len(of_healthy):
            usual = float(np.median(of_healthy))
            limit = max(widened(of_healthy, margin), usual + TIGHTEST)
            fitted[name] = CheckBound(usual=usual, limit=limit)
    return fitted
