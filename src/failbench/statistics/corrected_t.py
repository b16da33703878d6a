"""Corrected t: the mean of fold scores, with a variance that owns up to shared training runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from failbench.base.arrays import Array

ROUNDING = 1e-12
"""A standard deviation below this is rounding: the folds agree."""


@dataclass(frozen=True)
class ResampledMean:
    """The mean of a score over folds, as the corrected resampled t test sees it.

    Attributes
    ----------
    mean
        Mean over the folds.
    standard_error
        Root of the corrected variance; 0 where the folds agree.
    df
        Degrees of freedom: folds less one.
    """

    mean: float
    standard_error: float
    df: int

    @property
    def statistic(self) -> float:
        """The mean in standard errors; 0 for a mean of 0, infinite where folds agree on another."""
        if self.standard_error > 0:
            return self.mean / self.standard_error
        return float(np.sign(self.mean)) * np.inf if self.mean else 0.0

    @property
    def p_value(self) -> float:
        """Two-sided p of a mean of zero; 1 where there is no difference in any fold."""
        return float(2 * stats.t.sf(abs(self.statistic), self.df))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Bounds on the expected score over training sets; a point where the folds agree."""
        if self.standard_error == 0:
            return self.mean, self.mean
        low, high = stats.t.interval(confidence, self.df, self.mean, self.standard_error)
        return float(low), float(high)


def resampled_mean(scores: Array, tested: float, trained: float) -> ResampledMean:
    """Summarise scores ``[n_repeats * n_folds]`` of repeated cross-validation.

    The corrected resampled t test of Nadeau and Bengio (2003, "Inference for the generalization
    error"), for repeated cross-validation as in Bouckaert and Frank (2004): the variance over the
    k r folds is multiplied by 1 / (k r) + n_test / n_train, because folds share training runs, and
    there are k r - 1 degrees of freedom.

    Parameters
    ----------
    scores
        One score per fold, or one difference of scores.
    tested, trained
        Scenarios a fold tests and trains on, on average. Scenarios and not runs: the runs of one
        scenario are not independent.
    """
    values = np.asarray(scores, dtype=np.float64)
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    if deviation < ROUNDING:
        # Folds that agree do so to the last bit or not at all; so should their mean.
        return ResampledMean(float(np.round(mean, 12)), 0.0, len(values) - 1)
    standard_error = deviation * np.sqrt(1 / len(values) + tested / trained)
    return ResampledMean(mean, float(standard_error), len(values) - 1)
