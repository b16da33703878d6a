"""Paired tests: of means of fold scores, of equivalence within a margin, and those of textbooks."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.pairs import Pair

ROUNDING = 1e-12  # a standard deviation below this is rounding: the folds agree


@dataclass(frozen=True)
class ResampledMean:
    """The mean of a score over folds, as the corrected resampled t test sees it."""

    mean: float
    standard_error: float  # root of the corrected variance; 0 where the folds agree
    df: int  # folds less one

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
    """Corrected resampled t (Nadeau and Bengio, 2003) of ``[n_repeats * n_folds]`` scores."""
    # For repeats as in Bouckaert and Frank (2004): the variance over k r folds times 1 / (k r) +
    # n_test / n_train, as folds share training runs, and k r - 1 degrees of freedom. Tested and
    # trained count scenarios and not runs, as the runs of one are not independent.
    values = np.asarray(scores, dtype=np.float64)
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    if deviation < ROUNDING:
        # Folds that agree do so to the last bit or not at all; so should their mean.
        return ResampledMean(float(np.round(mean, 12)), 0.0, len(values) - 1)
    standard_error = deviation * np.sqrt(1 / len(values) + tested / trained)
    return ResampledMean(mean, float(standard_error), len(values) - 1)


@dataclass(frozen=True)
class Equivalence:
    """The two one-sided tests, ``p`` being the larger; margins above the smallest succeed."""

    p: float
    shown: bool
    smallest_margin: float


def equivalence(difference: ResampledMean, margin: float, alpha: float) -> Equivalence:
    """Two one-sided tests (Schuirmann, 1987), each at ``alpha``; the margin is fixed beforehand."""
    quantile = float(stats.t.isf(alpha, difference.df))
    smallest = abs(difference.mean) + quantile * difference.standard_error
    inside = margin - abs(difference.mean)
    if difference.standard_error == 0:
        p = 0.0 if inside > 0 else 1.0
    else:
        p = float(stats.t.sf(inside / difference.standard_error, difference.df))
    return Equivalence(p, p <= alpha, smallest)


def detectable_effect(df: int, alpha: float, power: float) -> float:
    """The smallest mean, in standard errors, that a t test finds (Cohen, 1988, chapter 2)."""
    n = df + 1
    per_deviation = TTestPower().solve_power(
        nobs=n, alpha=alpha, power=power, alternative="two-sided"
    )
    return float(per_deviation) * float(np.sqrt(n))


def discordant(first: pl.DataFrame, pair: Pair) -> tuple[int, int, float]:
    """McNemar's exact test (1947) over one repeat's scenarios: first right, second right, p."""
    left, right = (first[method].to_numpy() for method in pair)
    left_only, right_only = int((left & ~right).sum()), int((~left & right).sum())
    table = [[int((left & right).sum()), left_only], [right_only, int((~left & ~right).sum())]]
    return left_only, right_only, float(mcnemar(table, exact=True).pvalue)


def sign_test(differences: Array) -> tuple[int, int, float]:
    """The exact sign test (Dixon and Mood, 1946): better, worse, and p; ties do not count."""
    rounded = np.round(differences, 12)
    better, worse = int((rounded > 0).sum()), int((rounded < 0).sum())
    changed = better + worse
    return better, worse, float(stats.binomtest(better, changed).pvalue) if changed else 1.0


def fewest_signs(n: int, alpha: float) -> int | None:
    """How many of n must be better, and none worse, for the sign test to be significant."""
    enough = (k for k in range(1, n + 1) if stats.binomtest(k, k).pvalue <= alpha)
    return next(enough, None)


def paired_t(left: Array, right: Array) -> tuple[float, float]:
    """Student's paired t over the folds of one repeat, and its p; 0 and 1 where no fold differs."""
    # No conclusion rests on it: folds are not independent, they share training runs (Dietterich,
    # 1998).
    differences = np.asarray(left - right, dtype=np.float64)
    if differences.std() < ROUNDING:
        t = _infinite_or_zero(float(differences.mean()))
        return t, 0.0 if t else 1.0
    result = stats.ttest_rel(left, right)
    return float(result.statistic), float(result.pvalue)


def cohens_d(differences: Array) -> float:
    """Mean over deviation of differences (Cohen, 1988, chapter 2), infinite if all are alike."""
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    return mean / deviation if deviation >= ROUNDING else _infinite_or_zero(mean)


def _infinite_or_zero(mean: float) -> float:
    """A mean in units of a spread that is nothing but rounding."""
    return float(np.copysign(np.inf, mean)) if abs(mean) >= ROUNDING else 0.0


@dataclass(frozen=True)
class Stability:
    """How alike the conditions are: all pairs must be equivalent."""

    # An intersection-union test, of the level of each test, without adjustment (Berger and Hsu,
    # 1996).

    against_others: dict[str, dict[str, float]]
    spread: float
    p_equivalence: float
    shown: bool
    smallest_margin: float
    detectable: float
    n: int


def stability(
    answers: pl.DataFrame, condition: str, margin: float, confidence: float, power: float
) -> Stability:
    """Compare an accuracy under several conditions, scenario by scenario."""
    # A scenario's mean correctness is one number per condition: they are independent, and Student's
    # paired t holds, conditional on the fitted models. Those that lack a condition are left out.
    right = (pl.col("prediction") == pl.col("category")).cast(pl.Float64)
    wide = (
        answers.with_columns(right=right)
        .pivot(condition, index="scenario", values="right", aggregate_function="mean")
        .drop_nulls()
    )
    names = sorted(set(wide.columns) - {"scenario"})
    if len(names) < 2 or wide.height < 2:
        problem = f"there are {len(names)} conditions with {wide.height} scenarios in common."
        remedy = "Stability takes two of each: record another architecture, or more scenarios."
        raise BadInputError("predictions", condition, problem, remedy)
    scores = {name: wide[name].to_numpy() for name in names}

    def compared(left: Array, right: Array) -> dict[str, float]:
        return _difference(left - right, margin, confidence, power)

    pairs = [compared(scores[left], scores[right]) for left, right in combinations(names, 2)]
    means = [float(scores[name].mean()) for name in names]
    return Stability(
        against_others={
            name: compared(
                scores[name], np.mean([scores[other] for other in names if other != name], axis=0)
            )
            for name in names
        },
        spread=max(means) - min(means),
        p_equivalence=max(pair["p_equivalence"] for pair in pairs),
        shown=all(pair["equivalent"] for pair in pairs),
        smallest_margin=max(pair["smallest_margin"] for pair in pairs),
        detectable=max(pair["detectable"] for pair in pairs),
        n=wide.height,
    )


def _difference(
    differences: Array, margin: float, confidence: float, power: float
) -> dict[str, float]:
    """A difference over scenarios that both sides have, its interval, and what it shows."""
    mean = resampled_mean(differences, 0, 1)  # scenarios share nothing
    low, high = mean.interval(confidence)
    equal = equivalence(mean, margin, 1 - confidence)
    return {
        "value": mean.mean,
        "ci_low": low,
        "ci_high": high,
        "p": mean.p_value,
        "p_equivalence": equal.p,
        "equivalent": equal.shown,
        "smallest_margin": equal.smallest_margin,
        "detectable": detectable_effect(mean.df, 1 - confidence, power) * mean.standard_error,
        "n": len(differences),
    }
