from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_auc_score

from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import BATCH, BootstrapSettings
from failbench.statistics.confidence import (
    calibration_error,
    calibration_floor,
    calibration_gaps,
    entropy,
    separation,
)
from failbench.statistics.intervals import IntervalSettings, method_intervals
from made_up import made_up_predictions, over_resampled_rows, small_predictions

SETTINGS = IntervalSettings(
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=0,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)
BINS = 10


def error_of(predictions: pl.DataFrame) -> float:
    return float(calibration_error(calibration_gaps(predictions, BINS).sums()))


def floor_of(predictions: pl.DataFrame, draws: int = 400) -> np.ndarray:
    return calibration_floor(predictions, BINS, draws, np.random.default_rng(0))


def plain_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Bin by bin, as it is defined."""
    total = 0.0
    for lower in range(BINS):
        inside = (confidence > lower / BINS) & (confidence <= (lower + 1) / BINS)
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return total


def test_the_error_of_four_answers_is_what_a_hand_computes():
    predictions = small_predictions(
        category=["optimization"] * 4,
        prediction=["optimization", "unknown", "optimization", "unknown"],
        confidence=[0.91, 0.99, 0.35, 0.55],
    )
    # Bin (0.9, 1]: 0.5 right, mean 0.95; bin (0.3, 0.4]: 1 and 0.35; bin (0.5, 0.6]: 0 and 0.55.
    assert error_of(predictions) == pytest.approx((2 * 0.45 + 0.65 + 0.55) / 4)


def test_the_error_equals_the_bins_of_scikit_learn_weighted_by_size():
    predictions = made_up_predictions(repeats=1, scenarios=20)
    right = (predictions["category"] == predictions["prediction"]).to_numpy()
    confidence = predictions["confidence"].to_numpy()
    accuracies, confidences = calibration_curve(right, confidence, n_bins=BINS)
    sizes = np.histogram(confidence, BINS, (0, 1))[0]
    expected = np.average(np.abs(accuracies - confidences), weights=sizes[sizes > 0])
    assert error_of(predictions) == pytest.approx(expected)


def test_a_confidence_on_an_edge_belongs_to_the_bin_below():
    apart = small_predictions(
        category=["optimization"] * 2,
        prediction=["optimization", "unknown"],
        confidence=[0.6, 0.6000001],
    )
    together = apart.with_columns(confidence=pl.Series([0.6, 0.5999999]))
    assert error_of(apart) == pytest.approx((0.4 + 0.6) / 2, abs=1e-6)
    assert error_of(together) == pytest.approx(abs(0.5 - 0.6), abs=1e-6)


def test_the_error_is_computed_per_repeat_and_averaged():
    predictions = made_up_predictions(repeats=4)
    expected = [
        plain_error(
            part["confidence"].to_numpy(), (part["category"] == part["prediction"]).to_numpy()
        )
        for _, part in predictions.group_by("repeat")
    ]
    pooled = error_of(predictions.with_columns(repeat=pl.lit(0)))
    assert error_of(predictions) == pytest.approx(np.mean(expected))
    assert error_of(predictions) > pooled + 0.01


def test_abstentions_do_not_enter_the_error():
    predictions = made_up_predictions()
    abstaining = predictions.with_columns(
        prediction=pl.when(pl.col("confidence") < 0.5)
        .then(pl.lit("abstain"))
        .otherwise("prediction")
    )
    committed = predictions.filter(pl.col("confidence") >= 0.5)
    expected = [
        plain_error(
            part["confidence"].to_numpy(), (part["category"] == part["prediction"]).to_numpy()
        )
        for _, part in committed.group_by("repeat")
    ]
    assert error_of(abstaining) == pytest.approx(np.mean(expected))


def test_a_method_that_commits_to_nothing_has_no_calibration():
    nothing = made_up_predictions().with_columns(prediction=pl.lit("abstain"))
    intervals = method_intervals(nothing, SETTINGS)
    assert not {"calibration_error", "calibration_floor", "accuracy_when_committed"} & set(
        intervals
    )
    assert intervals["abstention_rate"].value == 1


def test_the_interval_of_the_error_is_the_value_and_the_spread_of_resampled_rows():
    predictions = made_up_predictions(repeats=2, scenarios=6)
    plain = over_resampled_rows(predictions, plain_error)

    error = stats.bootstrap(
        [np.arange(6)] * 5,
        plain,
        n_resamples=SETTINGS.resamples,
        batch=BATCH,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(SETTINGS.seed),
    ).standard_error
    interval = method_intervals(predictions, SETTINGS)["calibration_error"]
    assert interval.method == "normal bootstrap"
    assert interval.value == pytest.approx(plain(*[np.arange(6)] * 5))
    assert (interval.ci_low, interval.ci_high) == pytest.approx(
        stats.norm.interval(0.95, interval.value, error), abs=1e-9
    )


def test_the_floor_at_76_scenarios_is_near_what_theory_says_of_ten_bins():
    """A bin of m answers is off by about sqrt(2 c (1 - c) / (pi m)): half a normal deviation."""
    predictions = made_up_predictions(repeats=1, scenarios=COUNTS)
    confidence = predictions["confidence"].to_numpy()
    number = np.ceil(confidence * BINS)
    expected = sum(
        np.sqrt(2 / np.pi * (confidence * (1 - confidence))[number == bin_number].sum())
        for bin_number in range(1, BINS + 1)
    ) / len(confidence)
    assert floor_of(predictions, 2000).mean() == pytest.approx(expected, rel=0.06)


def test_the_errors_of_a_calibrated_method_are_those_of_its_floor():
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(200):
        confidence = rng.uniform(0.2, 1.0, 76)
        right = rng.random(76) < confidence
        errors.append(plain_error(confidence, right))
    floor = floor_of(made_up_predictions(repeats=1, scenarios=COUNTS), 1000)
    assert np.mean(errors) == pytest.approx(floor.mean(), rel=0.06)
    assert np.std(errors) == pytest.approx(floor.std(), rel=0.15)


def test_repeats_and_runs_of_the_same_answers_leave_the_floor_as_it_is():
    once = made_up_predictions(repeats=1)
    again = pl.concat([once, once.with_columns(repeat=pl.lit(1, pl.Int32))])
    more = pl.concat([once, once.with_columns(run_id=pl.col("run_id") + "_again")])
    assert floor_of(again) == pytest.approx(floor_of(once))
    assert floor_of(more) == pytest.approx(floor_of(once))


@pytest.mark.long
@pytest.mark.parametrize("excess", [0.0, 0.15], ids=["calibrated", "too sure"])
def test_the_interval_of_the_error_covers_its_mean_in_samples_of_this_size(excess: float):
    """Studies of 76 scenarios; the mean is known from many more of them."""
    rng = np.random.default_rng(0)
    category = [name for name, count in COUNTS.items() for _ in range(count)]
    other = dict(zip(CATEGORIES, (*CATEGORIES[1:], CATEGORIES[0]), strict=True))

    def study():
        confidence = rng.uniform(0.3, 1.0, len(category))
        return confidence, rng.random(len(category)) < confidence - excess

    truth = np.mean([plain_error(*study()) for _ in range(2000)])
    covered = []
    for _ in range(200):
        confidence, right = study()
        answers = [
            name if is_right else other[name]
            for name, is_right in zip(category, right, strict=True)
        ]
        predictions = small_predictions(
            category=category, prediction=answers, confidence=confidence
        )
        interval = method_intervals(predictions, SETTINGS)["calibration_error"]
        covered.append(interval.ci_low <= truth <= interval.ci_high)
    assert np.mean(covered) >= 0.88


BOOTSTRAP = BootstrapSettings(resamples=1000, confidence=0.95, seed=0)


def entropies(*rows: tuple[float, ...]) -> list[float]:
    names = [f"p_{category}" for category in CATEGORIES]
    return pl.DataFrame(list(rows), schema=names, orient="row").select(entropy()).to_series()


def test_entropy_is_that_of_scipy_over_that_of_equal_odds():
    mixed = (0.5, 0.2, 0.2, 0.1, 0.0)
    values = entropies((0.2,) * 5, (1.0, 0.0, 0.0, 0.0, 0.0), mixed)
    assert values[0] == pytest.approx(1.0)
    assert values[1] == 0.0
    assert values[2] == pytest.approx(stats.entropy(mixed, base=5))


def test_separation_is_the_area_under_the_curve_of_scikit_learn():
    predictions = made_up_predictions(scenarios=8)
    means = predictions.group_by("scenario", "category").agg(pl.col("confidence").mean())
    area = separation(predictions, pl.col("confidence"), "unknown", BOOTSTRAP)
    assert area.value == pytest.approx(
        roc_auc_score(means["category"] == "unknown", means["confidence"].round(12))
    )
    assert area.ci_low < area.value < area.ci_high
    assert area.n == 40


def test_what_separates_fully_is_one_and_what_is_the_same_everywhere_a_half():
    predictions = made_up_predictions(scenarios=4)
    full = separation(predictions, (pl.col("category") == "unknown"), "unknown", BOOTSTRAP)
    assert (full.value, full.ci_low, full.ci_high, full.method) == (1.0, 1.0, 1.0, "point")
    none = separation(predictions, pl.lit(0.3), "unknown", BOOTSTRAP)
    assert (none.value, none.method) == (0.5, "point")
    assert separation(
        predictions, -pl.col("confidence"), "unknown", BOOTSTRAP
    ).value == pytest.approx(
        1 - separation(predictions, pl.col("confidence"), "unknown", BOOTSTRAP).value
    )
