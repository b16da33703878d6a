"""Paired tests of the kind that textbooks have: on one repeat, or on scenarios, as they are."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from failbench.base.arrays import Array
from failbench.statistics.corrected_t import ROUNDING
from failbench.statistics.paired_scores import Pair


def discordant(first: pl.DataFrame, pair: Pair) -> tuple[int, int, float]:
    """McNemar's exact test (McNemar, 1947) over the scenarios of one repeat.

    Parameters
    ----------
    first
        A row per scenario and a boolean column per method: whether it was right.

    Returns
    -------
    tuple
        Scenarios that only the first of the pair has right, those that only the second has, and the
        two-sided binomial p of such a split; 1 where no scenario tells them apart.
    """
    left, right = (first[method].to_numpy() for method in pair)
    left_only, right_only = int((left & ~right).sum()), int((~left & right).sum())
    table = [[int((left & right).sum()), left_only], [right_only, int((~left & ~right).sum())]]
    return left_only, right_only, float(mcnemar(table, exact=True).pvalue)


def sign_test(differences: Array) -> tuple[int, int, float]:
    """The exact sign test over scenarios (Dixon and Mood, 1946, "The statistical sign test").

    How many are better and worse, and the two-sided p of such a split; what is the same does not
    count, and where all are, p is 1.
    """
    rounded = np.round(differences, 12)
    better, worse = int((rounded > 0).sum()), int((rounded < 0).sum())
    changed = better + worse
    return better, worse, float(stats.binomtest(better, changed).pvalue) if changed else 1.0


def fewest_signs(n: int, alpha: float) -> int | None:
    """How many of n must be better, and none worse, for the sign test to be significant."""
    enough = (k for k in range(1, n + 1) if stats.binomtest(k, k).pvalue <= alpha)
    return next(enough, None)


def paired_t(left: Array, right: Array) -> tuple[float, float]:
    """Student's paired t over the folds ``[n_folds]`` of one repeat, and its two-sided p.

    It takes folds for independent, which they are not, as they share training runs (Dietterich,
    1998): no conclusion rests on it. Where no fold differs, t is 0 and p is 1.
    """
    differences = np.asarray(left - right, dtype=np.float64)
    if differences.std() < ROUNDING:
        t = _infinite_or_zero(float(differences.mean()))
        return t, 0.0 if t else 1.0
    result = stats.ttest_rel(left, right)
    return float(result.statistic), float(result.pvalue)


def cohens_d(differences: Array) -> float:
    """Mean over standard deviation of paired differences (Cohen, 1988, chapter 2).

    0 where there is no difference at all, and infinite where all are alike.
    """
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    return mean / deviation if deviation >= ROUNDING else _infinite_or_zero(mean)


def _infinite_or_zero(mean: float) -> float:
    """A mean in units of a spread that is nothing but rounding."""
    return float(np.copysign(np.inf, mean)) if abs(mean) >= ROUNDING else 0.0
