"""Equivalence: what a difference that was not found may still be, and what would have been seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from statsmodels.stats.power import TTestPower

from failbench.statistics.corrected_t import ResampledMean


@dataclass(frozen=True)
class Equivalence:
    """The two one-sided tests of a difference, and how much this number of scenarios can tell.

    Attributes
    ----------
    p
        The larger p of the two tests that the difference lies beyond the margin.
    shown
        Whether both are rejected: the methods are equivalent within the margin.
    smallest_margin
        The margin at which ``p`` is the level of the test: any larger one would have succeeded.
    """

    p: float
    shown: bool
    smallest_margin: float


def equivalence(difference: ResampledMean, margin: float, alpha: float) -> Equivalence:
    """Two one-sided tests (Schuirmann, 1987), each at level ``alpha``, by the corrected t.

    Parameters
    ----------
    difference
        Mean difference over folds with its corrected standard error.
    margin
        Largest difference that counts as none, a fraction; fixed before results are seen.
    alpha
        Level of each test; their conjunction has the same.
    """
    quantile = float(stats.t.isf(alpha, difference.df))
    smallest = abs(difference.mean) + quantile * difference.standard_error
    inside = margin - abs(difference.mean)
    if difference.standard_error == 0:
        p = 0.0 if inside > 0 else 1.0
    else:
        p = float(stats.t.sf(inside / difference.standard_error, difference.df))
    return Equivalence(p, p <= alpha, smallest)


def detectable_effect(df: int, alpha: float, power: float) -> float:
    """The smallest true mean, in standard errors, that a two-sided t test finds with this power.

    The solution of the power function of the noncentral t (Cohen, 1988, chapter 2), by
    `statsmodels.stats.power.TTestPower`. Times a corrected standard error it is the smallest
    difference between methods that a study of this size could have shown.
    """
    n = df + 1
    per_deviation = TTestPower().solve_power(
        nobs=n, alpha=alpha, power=power, alternative="two-sided"
    )
    return float(per_deviation) * float(np.sqrt(n))
