import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.base.errors import BadInputError
from failbench.statistics import bootstrap
from failbench.statistics.intervals import method_intervals
from made_up import made_up_predictions
from study_settings import BOOTSTRAP, METHOD_INTERVALS, scipy_bootstrap

SETTINGS = BOOTSTRAP.model_copy(update={"resamples": 10_000})
SEEDS = (np.array([3, 1, 2, 3, 3, 2, 1, 3]), np.array([3, 3, 3, 3, 1]))
"""Seeds of the scenarios of two categories."""
N = sum(len(rows) for rows in SEEDS)


@pytest.fixture(scope="module")
def right() -> list[np.ndarray]:
    """A score of each scenario and seed."""
    rng = np.random.default_rng(1)
    return [rng.beta(0.5, 0.5, rows.sum()) for rows in SEEDS]


def mean_of(right):
    def statistic(weights):
        return sum(weight @ values for weight, values in zip(weights, right, strict=True))[None] / N

    return statistic


def in_scenarios(values, rows):
    return np.split(values, np.cumsum(rows)[:-1])


def two_level_loop(right, resamples):
    """Means of resamples that are drawn scenario by scenario and seed by seed."""
    rng = np.random.default_rng(7)
    means = []
    for _ in range(resamples):
        total = 0.0
        for values, rows in zip(right, SEEDS, strict=True):
            scenarios = in_scenarios(values, rows)
            for position in rng.integers(0, len(scenarios), len(scenarios)):
                total += rng.choice(scenarios[position], len(scenarios[position])).mean()
        means.append(total / N)
    return np.array(means)


def test_resamples_are_those_of_a_loop_over_scenarios_and_their_seeds(right):
    resampled = bootstrap.resample(SEEDS, mean_of(right), SETTINGS)
    means = two_level_loop(right, 4000)
    assert resampled.percentile[0] == pytest.approx(np.quantile(means, (0.025, 0.975)), abs=0.01)
    assert resampled.reach[0] == pytest.approx(stats.norm.ppf(0.975) * means.std(), rel=0.05)


def test_the_variance_is_that_between_scenarios_and_that_of_their_seeds(right):
    """In closed form, as all draws are independent and with replacement."""
    variance = 0.0
    for values, rows in zip(right, SEEDS, strict=True):
        scenarios = in_scenarios(values, rows)
        between = np.var([seeds.mean() for seeds in scenarios])
        within = np.mean([seeds.var() / len(seeds) for seeds in scenarios])
        variance += len(rows) * (between + within) / N**2
    reach = bootstrap.resample(SEEDS, mean_of(right), SETTINGS).reach[0]
    assert reach == pytest.approx(stats.norm.ppf(0.975) * np.sqrt(variance), rel=0.03)


def test_the_acceleration_leaves_out_whole_scenarios(right):
    """BCa by hand (Efron, 1987): bias from the resamples, acceleration from the scenarios."""
    statistic = mean_of(right)
    taken = []

    def recorded(weights):
        figures = statistic(weights)
        taken.append(figures.round(12))
        return figures

    (low, high) = bootstrap.resample(SEEDS, recorded, SETTINGS).bca[0]
    distribution = np.concatenate([figures[0] for figures in taken if figures.shape == (1, 1000)])
    value = statistic(bootstrap.once(SEEDS))[0]
    bias = stats.norm.ppf(np.mean(distribution < value) + np.mean(distribution == value) / 2)
    cubes, squares = 0.0, 0.0
    for position, rows in enumerate(SEEDS):
        left_out = []
        for scenario in range(len(rows)):
            weights = list(bootstrap.once(SEEDS))
            weights[position] = bootstrap.all_seeds(1.0 - np.eye(len(rows))[scenario], rows)
            left_out.append(statistic(weights)[0])
        # each left out counts for its category's size less one
        influence = (len(rows) - 1) * (np.mean(left_out) - np.array(left_out))
        cubes += (influence**3).sum() / len(rows) ** 3
        squares += (influence**2).sum() / len(rows) ** 2
    acceleration = cubes / (6 * squares**1.5)
    shifted = bias + stats.norm.ppf([0.025, 0.975])
    levels = stats.norm.cdf(bias + shifted / (1 - acceleration * shifted))
    assert (low, high) == pytest.approx(tuple(np.quantile(distribution, levels)), abs=1e-9)


def test_with_single_seeds_it_is_the_bootstrap_of_scipy_over_scenarios_draw_by_draw():
    rng = np.random.default_rng(3)
    values = [rng.random(size) for size in (8, 5)]

    def mean(*parts, axis):
        return (sum(part.sum(axis=axis) for part in parts) / N).round(12)

    expected = scipy_bootstrap(values, mean, SETTINGS)
    resampled = bootstrap.resample(bootstrap.single_seeds((8, 5)), mean_of(values), SETTINGS)
    assert resampled.bca[0] == pytest.approx(tuple(expected.confidence_interval), abs=1e-9)
    assert resampled.reach[0] == pytest.approx(stats.norm.ppf(0.975) * expected.standard_error)


def with_seed(predictions: pl.DataFrame, seed: int) -> pl.DataFrame:
    return predictions.with_columns(
        seed=pl.lit(seed, pl.Int32), run_id=pl.format("{}-s{}", "run_id", pl.lit(seed))
    )


def test_seeds_that_agree_change_no_interval_and_a_scenario_with_more_counts_once():
    predictions = made_up_predictions(repeats=2)
    alike = pl.concat(with_seed(predictions, seed) for seed in range(3))
    once_each, thrice = (method_intervals(each, METHOD_INTERVALS) for each in (predictions, alike))
    assert once_each.keys() == thrice.keys()
    for name, expected in once_each.items():
        interval = thrice[name]
        assert (interval.value, interval.ci_low, interval.ci_high) == pytest.approx(
            (expected.value, expected.ci_low, expected.ci_high), abs=1e-9
        )
        assert (interval.n, interval.method) == (expected.n, expected.method)
    units = [each["accuracy"].resampling_unit for each in (once_each, thrice)]
    assert units == ["scenario", "scenario, then seed"]
    assert thrice["accuracy_over_training_sets"].resampling_unit == "fold"
    first = with_seed(predictions, 0)
    again = with_seed(predictions.filter(pl.col("scenario").str.ends_with("_0")), 1)
    ragged = method_intervals(pl.concat([first, again]), METHOD_INTERVALS)
    for name in ("accuracy", "macro_f1", "brier", "calibration_error", "accuracy_when_committed"):
        assert ragged[name].value == pytest.approx(once_each[name].value)
        assert ragged[name].n == once_each[name].n
    lacking = pl.concat([first, with_seed(predictions, 1).filter(repeat=0)])
    with pytest.raises(BadInputError, match="not tested in every repeat"):
        method_intervals(lacking, METHOD_INTERVALS)


def test_seeds_are_counted_once_whatever_their_runs_and_repeats_and_name_the_unit():
    rows = pl.DataFrame(
        {"scenario": ["b", "a", "a", "a", "b"], "seed": [0, 0, 1, 1, 0], "repeat": [0, 0, 0, 1, 1]}
    )
    assert bootstrap.seed_counts(rows).tolist() == [2, 1]
    assert bootstrap.unit_of(bootstrap.single_seeds([3, 2])) == "scenario"
    assert (
        bootstrap.unit_of((*bootstrap.single_seeds([3]), np.array([3, 1, 2])))
        == "scenario, then seed"
    )


def test_seeds_are_drawn_as_by_a_loop_over_the_draws_of_a_scenario():
    """Means and covariances of the weights of a scenario that was drawn twice, with three seeds."""
    rng = np.random.default_rng(0)
    drawn = np.array(
        [
            sum(np.bincount(rng.integers(0, 3, 3), minlength=3) / 3 for _ in range(2))
            for _ in range(20_000)
        ]
    )
    weights = bootstrap.drawn_seeds(
        np.full((20_000, 1), 2.0), np.array([3]), np.random.default_rng(1)
    )
    assert weights.mean(axis=0) == pytest.approx(drawn.mean(axis=0), abs=0.01)
    assert np.cov(weights.T) == pytest.approx(np.cov(drawn.T), abs=0.01)
    assert {tuple(row) for row in weights.round(6)} == {tuple(row) for row in drawn.round(6)}
    # where scenarios have a single seed nothing is drawn
    rng, counts = np.random.default_rng(0), np.array([[2.0, 0.0, 1.0]])
    (seeds,) = bootstrap.single_seeds([3])
    assert bootstrap.drawn_seeds(counts, seeds, rng).tolist() == counts.tolist()
    assert rng.random() == np.random.default_rng(0).random()
