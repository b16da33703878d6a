"""Incidence: cumulative incidences and hazards of right and wrong answers with their intervals.

A right and a wrong answer compete: whoever has given one gives no other. So the share that ends
wrong is the cumulative incidence of Aalen and Johansen (1978); one less the estimate of Kaplan and
Meier, with right answers as censored, would be the share in a world without right answers.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.duration.survfunc import CumIncidenceRight

from failbench.base.arrays import Array
from failbench.neighbours.lenses.slices import Integers

RIGHT_EVENT: Final = 1
WRONG_EVENT: Final = 2
"""What ends an answer; 0 is truncation, which censors it."""

_EVENTS: Final = {"right": RIGHT_EVENT, "wrong": WRONG_EVENT}


def incidences(
    tokens: Integers, events: Integers, at: Array, confidence: float
) -> dict[str, Array]:
    """Cumulative incidences and hazards at given tokens, with pointwise intervals.

    Those of incidences are on the scale of log(-log), with the variance of Marubini and Valsecchi
    (1995); those of cumulative hazards on that of the logarithm, with the variance of Aalen (1978).
    """
    times, counts = np.unique(tokens, return_counts=True)
    open_at = counts[::-1].cumsum()[::-1]
    place = np.searchsorted(times, at, side="right") - 1
    deviation = float(stats.norm.ppf((1 + confidence) / 2))
    results: dict[str, Array] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        # before the first event, and after the last answer, a variance is 0 by 0
        fitted = CumIncidenceRight(tokens, events) if (events > 0).any() else None
        for name, event in _EVENTS.items():
            ended = np.array([((tokens == time) & (events == event)).sum() for time in times])
            hazard = (ended / open_at).cumsum()
            spread = np.exp(deviation * np.sqrt((ended / open_at**2).cumsum()) / hazard)
            curves = {"hazard_sum": (hazard, hazard / spread, hazard * spread)}
            if fitted is None or event > len(fitted.cinc):
                nothing = np.zeros(len(times))
                curves["incidence"] = (nothing, nothing / 0, nothing / 0)
            else:
                share, error = fitted.cinc[event - 1], fitted.cinc_se[event - 1]
                power = np.exp(deviation * error / (share * -np.log(share)))
                curves["incidence"] = (share, share**power, share ** (1 / power))
            for kind, bounds in curves.items():
                for suffix, values in zip(("", "_low", "_high"), bounds, strict=True):
                    before = 0.0 if not suffix else np.nan
                    results[f"{name}_{kind}{suffix}"] = np.where(place < 0, before, values[place])
    return results


def points_of(results: dict[str, Array]) -> list[pl.Series]:
    """The curves as columns, null where an interval is not defined."""
    return [pl.Series(name, values).fill_nan(None) for name, values in results.items()]
