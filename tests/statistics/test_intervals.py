from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from failbench.base.errors import BadInputError
from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import BATCH
from failbench.statistics.intervals import (
    IntervalSettings,
    corrected_t,
    intervals_table,
    method_intervals,
    nest,
    scenario_intervals,
    wilson,
)
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scenario_values import scenario_answers
from made_up import made_up_predictions

SETTINGS = IntervalSettings(
    resamples=2000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=0,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)


def width(predictions: pl.DataFrame, metric: str = "accuracy") -> float:
    interval = method_intervals(predictions, SETTINGS)[metric]
    return interval.ci_high - interval.ci_low


def test_values_equal_scikit_learn_repeat_by_repeat():
    predictions = made_up_predictions()
    intervals = method_intervals(predictions, SETTINGS)
    by_repeat = [
        (part["category"].to_list(), part["prediction"].to_list())
        for _, part in predictions.group_by("repeat")
    ]
    expected = {
        "accuracy": np.mean([accuracy_score(*pair) for pair in by_repeat]),
        "balanced_accuracy": np.mean([balanced_accuracy_score(*pair) for pair in by_repeat]),
        "macro_f1": np.mean([f1_score(*pair, average="macro") for pair in by_repeat]),
        "abstention_rate": 0.0,
        "f1_unknown": np.mean(
            [f1_score(*pair, labels=["unknown"], average="macro") for pair in by_repeat]
        ),
    }
    assert {name: intervals[name].value for name in expected} == pytest.approx(expected)


def test_the_bca_interval_equals_scipy_over_scenario_means_resampled_within_categories():
    predictions = made_up_predictions()
    means = (
        predictions.with_columns(right=pl.col("prediction") == pl.col("category"))
        .group_by("category", "scenario")
        .agg(pl.col("right").mean())
        .sort("scenario")
    )
    samples = [
        means.filter(pl.col("category") == category)["right"].to_numpy() for category in CATEGORIES
    ]
    expected = stats.bootstrap(
        samples,
        lambda *parts, axis: np.mean([part.mean(axis=axis) for part in parts], axis=0).round(12),
        n_resamples=SETTINGS.resamples,
        batch=BATCH,
        method="BCa",
        rng=np.random.default_rng(SETTINGS.seed),
    ).confidence_interval
    interval = method_intervals(predictions, SETTINGS)["accuracy"]
    assert interval.method == "BCa bootstrap"
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(expected), abs=1e-9)


def test_a_flawless_method_gets_wilsons_interval_over_scenarios():
    intervals = method_intervals(made_up_predictions(accuracy=1.0, repeats=4), SETTINGS)
    expected = stats.binomtest(60, 60).proportion_ci(0.95, method="wilson")
    assert intervals["accuracy"].method == "Wilson"
    assert (intervals["accuracy"].ci_low, intervals["accuracy"].ci_high) == pytest.approx(
        tuple(expected)
    )
    wilson = stats.binomtest(12, 12).proportion_ci(0.95, method="wilson")
    assert intervals["recall_unknown"].ci_low == pytest.approx(wilson.low)
    assert intervals["recall_unknown"].n == 12


def test_a_method_that_is_never_right_gets_an_interval_with_width():
    interval = method_intervals(made_up_predictions(accuracy=0.0), SETTINGS)["accuracy"]
    assert (interval.value, interval.ci_low) == (0, 0)
    assert 0 < interval.ci_high < 0.1


def test_repeating_the_same_answers_narrows_nothing():
    once = made_up_predictions(repeats=1)
    again = pl.concat([once, once.with_columns(repeat=pl.lit(1, pl.Int32))])
    assert width(again) == pytest.approx(width(once))


def test_more_seeds_with_the_same_answers_narrow_nothing():
    once = made_up_predictions()
    more = pl.concat([once, once.with_columns(run_id=pl.col("run_id") + "_again")])
    assert width(more) == pytest.approx(width(once))


def test_an_interval_holds_its_value_and_a_rate_stays_within_zero_and_one():
    top = {"brier": 2.0, "log_loss": 13.9, "conditions_to_read": 9.0}
    for accuracy in (0.0, 0.05, 0.5, 0.95, 1.0):
        for name, interval in method_intervals(made_up_predictions(accuracy), SETTINGS).items():
            assert 0 <= interval.ci_low <= interval.value <= interval.ci_high <= top.get(name, 1.0)


def test_rounding_errors_of_wilsons_closed_form_do_not_reach_the_interval():
    for n in range(2, 200):
        assert wilson(1.0, n, 0.95)[1] == 1.0
        assert wilson(0.0, n, 0.95)[0] == 0.0


def test_abstaining_is_never_right_not_even_on_unknown():
    predictions = made_up_predictions(accuracy=1.0).with_columns(
        prediction=pl.when(pl.col("category") == "unknown")
        .then(pl.lit("abstain"))
        .otherwise("prediction")
    )
    intervals = method_intervals(predictions, SETTINGS)
    assert intervals["recall_unknown"].value == 0
    assert intervals["accuracy"].value == pytest.approx(0.8)
    assert intervals["abstention_rate"].value == pytest.approx(0.2)


def test_a_category_with_one_scenario_is_refused():
    predictions = made_up_predictions().filter(
        (pl.col("category") != "unknown") | (pl.col("scenario") == "unknown_0")
    )
    with pytest.raises(BadInputError, match="unknown has a single scenario"):
        scenario_intervals(scenario_answers(predictions), OVERALL, SETTINGS)


@pytest.mark.long
def test_bca_over_scenarios_covers_the_true_accuracy():
    """150 studies of 76 scenarios whose true mean accuracy is known by construction."""
    rng = np.random.default_rng(0)
    settings = IntervalSettings(
        resamples=1000,
        confidence=0.95,
        wilson_from=0.9,
        wilson_below=0,
        seed=0,
        calibration_bins=10,
        floor_draws=1000,
    )
    truth, covered = 0.65, []
    for _ in range(150):
        rows = []
        for category, count in COUNTS.items():
            for number, chance in enumerate(rng.beta(2.6, 1.4, count)):
                for repeat in range(10):
                    answer = category if rng.random() < chance else "abstain"
                    rows.append((repeat, 0, f"{category}_{number}", category, answer))
        predictions = pl.DataFrame(
            rows, schema=["repeat", "seed", "scenario", "category", "prediction"], orient="row"
        )
        answers = scenario_answers(predictions)
        interval = scenario_intervals(answers, OVERALL[:1], settings)["accuracy"]
        covered.append(interval.ci_low <= truth <= interval.ci_high)
    assert 0.90 <= np.mean(covered) <= 0.99


def test_the_corrected_t_interval_follows_nadeau_and_bengio():
    predictions = made_up_predictions(repeats=10)
    right = predictions.with_columns(right=pl.col("prediction") == pl.col("category"))
    folds = right.group_by("repeat", "fold").agg(pl.col("right").mean())["right"].to_numpy()
    variance = folds.var(ddof=1) * (1 / 30 + 20 / 40)
    half = stats.t.ppf(0.975, 29) * np.sqrt(variance)
    interval = corrected_t(predictions, 0.95)
    assert (interval.value, interval.ci_low, interval.ci_high) == pytest.approx(
        (folds.mean(), folds.mean() - half, folds.mean() + half)
    )


def test_one_fold_has_no_corrected_t_interval():
    single_fold = made_up_predictions(repeats=1).with_columns(fold=pl.lit(0, pl.Int32))
    with pytest.raises(BadInputError, match="single fold"):
        corrected_t(single_fold, 0.95)


def test_the_metrics_file_nests_four_scalars_a_figure():
    table = intervals_table(made_up_predictions(), SETTINGS)
    nested = nest(table, "feature_set", "method", "metric")
    assert set(nested["19"]["made_up"]["accuracy"]) == {"value", "ci_low", "ci_high", "n"}
    assert nested["19"]["made_up"]["accuracy"]["n"] == 60
    assert set(table["resampling_unit"]) == {"scenario", "fold"}
    assert "calibration_floor" in nested["19"]["made_up"]
    assert table["estimand"].str.len_chars().min() > 10


def test_intervals_do_not_depend_on_the_number_of_workers():
    both = pl.concat(
        made_up_predictions(seed=seed).with_columns(method=pl.lit(f"method_{seed}"))
        for seed in (0, 1)
    )
    serial, parallel = (intervals_table(both, SETTINGS, workers) for workers in (1, 2))
    assert serial["method"].unique(maintain_order=True).to_list() == ["method_0", "method_1"]
    assert serial.equals(parallel)
