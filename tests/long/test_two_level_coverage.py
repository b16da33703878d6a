"""What resampling seeds as well as scenarios does to intervals, in studies of 76 scenarios.

A run of a scenario is a seed of it: three runs for each scenario, diagnosed once. A scenario has a
probability of its own to be diagnosed right, drawn from a beta distribution whose mean is the rate
of its category, and its runs are drawn from that. The intraclass correlation of the runs says how
alike they are: at 0 the scenarios do not differ at all, at 1 all runs of a scenario are answered
alike. Measured over the three recorded seeds, most methods have 0.55 to 1, a simulated human and
what hands runs to that person 0 to 0.2, and the differences of two methods anything from 0 to 1.

Estimands: the probability that a run of a new scenario is diagnosed right, with the categories of
the study (accuracy) or the same weight for each (balanced accuracy); and by how much that of one
method is above that of another. Of the two strategies of Davison and Hinkley (1997, section 3.8),
the first draws scenarios with all their seeds, the second draws scenarios and then seeds.
"""

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from scipy import stats

from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import ABSTAIN, ANSWERS
from failbench.base.workers import parallel_map
from failbench.statistics.intervals import scenario_intervals
from failbench.statistics.metrics import OVERALL
from failbench.statistics.pairs import difference_bounds, paired_shares
from failbench.statistics.scenario_values import ScenarioAnswers
from prediction_fixtures import scenarios_of
from study_settings import INTERVALS

pytestmark = pytest.mark.long

STUDIES = 1000
BOUND = 0.021
"""Three standard errors of a coverage of 0.95 in so many studies."""
SEEDS = 3
WIDEST = 1.02 * (1 + (SEEDS - 1) / SEEDS) ** 0.5
"""How much wider intervals are where the runs of a scenario are not alike, and a little more."""
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)

METRICS = OVERALL[:2]
RATES = dict(zip(COUNTS, (0.7, 0.6, 0.5, 0.6, 0.3), strict=True))
BETTER, WORSE = 0.6, 0.5
"""The same for two methods that are compared, in every category."""
BETWEEN_METHODS = 0.5
"""Correlation of what is hard for one method and for another, of a Gaussian copula."""
TRUE_VALUES = {
    "accuracy": sum(RATES[name] * count for name, count in COUNTS.items()) / sum(COUNTS.values()),
    "balanced_accuracy": sum(RATES.values()) / len(RATES),
    "difference": BETTER - WORSE,
}
STRATEGIES = ("scenarios", "scenarios, then seeds")


def drawn_runs(rate, correlation, ranks, rng):
    """Whether each run of scenarios with these ranks is diagnosed right: ``[n_scenarios, 3]``."""
    if correlation == 0:
        chances = np.full(len(ranks), rate)
    else:
        # the variance of a beta distribution is rate (1 - rate) / (concentration + 1)
        concentration = 1 / correlation - 1
        chances = stats.beta.ppf(ranks, rate * concentration, (1 - rate) * concentration)
    return rng.random((len(ranks), SEEDS)) < chances[:, None]


def answers_of(shares: dict[str, npt.NDArray[np.float64]]) -> ScenarioAnswers:
    """Shares of right answers by category, ``[n_scenarios, n_seeds]``; other answers abstain."""
    answers, seeds = {}, []
    for category, right in shares.items():
        rows = np.zeros((right.size, 1, len(ANSWERS)))
        rows[:, 0, ANSWERS.index(category)] = right.ravel()
        rows[:, 0, ANSWERS.index(ABSTAIN)] = 1 - right.ravel()
        answers[category] = rows
        seeds.append(np.full(len(right), right.shape[1]))
    return ScenarioAnswers(answers, tuple(seeds))


def bounds_of_rates(correlation: float, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    rng = np.random.default_rng(seed)
    runs = {
        str(category): drawn_runs(RATES[category], correlation, rng.random(count), rng)
        for category, count in COUNTS.items()
    }
    by_strategy = {
        STRATEGIES[0]: {name: right.mean(axis=1, keepdims=True) for name, right in runs.items()},
        STRATEGIES[1]: {name: right.astype(np.float64) for name, right in runs.items()},
    }
    return {
        (strategy, name): (interval.ci_low, interval.ci_high)
        for strategy, shares in by_strategy.items()
        for name, interval in scenario_intervals(answers_of(shares), METRICS, INTERVALS).items()
    }


def bounds_of_difference(correlation, seed):
    rng = np.random.default_rng([seed, 1])
    scenarios = scenarios_of(COUNTS)
    ties = [[1, BETWEEN_METHODS], [BETWEEN_METHODS, 1]]
    ranks = stats.norm.cdf(rng.multivariate_normal([0, 0], ties, scenarios.height))
    tables = []
    for position, (method, rate) in enumerate((("better", BETTER), ("worse", WORSE))):
        right = drawn_runs(rate, correlation, ranks[:, position], rng).astype(np.float64)
        tables += [
            scenarios.with_columns(
                method=pl.lit(method), seed=pl.lit(number), correct=pl.Series(right[:, number])
            )
            for number in range(SEEDS)
        ]
    answers = pl.concat(tables).with_columns(repeat=pl.lit(0), fold=pl.lit(0))
    by_strategy = {STRATEGIES[0]: answers.with_columns(seed=pl.lit(0)), STRATEGIES[1]: answers}
    bounds = {}
    for strategy, rows in by_strategy.items():
        (pair,) = difference_bounds(paired_shares(rows), [("better", "worse")], INTERVALS)
        assert pair is not None
        bounds[strategy, "difference"] = pair
    return bounds


def bounds_of_study(correlation: float, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    return bounds_of_rates(correlation, seed) | bounds_of_difference(correlation, seed)


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_intervals_over_scenarios_and_seeds_cover_new_scenarios(correlation, report):
    studies = parallel_map(bounds_of_study, [(correlation, seed) for seed in range(STUDIES)], 2)
    coverage, width = {}, {}
    for strategy, name in studies[0]:
        low, high = np.array([bounds[strategy, name] for bounds in studies]).T
        covered = (low <= TRUE_VALUES[name]) & (TRUE_VALUES[name] <= high)
        coverage[strategy, name] = float(covered.mean())
        width[strategy, name] = float((high - low).mean())
    report(
        f"95 % intervals, {STUDIES} studies of {SEEDS} seeds, intraclass correlation {correlation}",
        ("resampled", "estimand", "coverage", "width"),
        [(*key, coverage[key], width[key]) for key in sorted(coverage)],
    )
    for name in TRUE_VALUES:
        alone, both = ((strategy, name) for strategy in STRATEGIES)
        assert coverage[both] >= 0.95 - BOUND
        assert width[alone] < width[both] < WIDEST * width[alone]
        if correlation >= 0.6:  # as the runs of most methods
            assert coverage[both] <= 0.95 + BOUND
