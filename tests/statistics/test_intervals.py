import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.intervals import (
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
from study_settings import METHOD_INTERVALS, scipy_bootstrap

SETTINGS = METHOD_INTERVALS.model_copy(update={"resamples": 2000})


def test_values_equal_scikit_learn_repeat_by_repeat():
    predictions = made_up_predictions()
    intervals = method_intervals(predictions, SETTINGS)
    by_repeat = [
        (part["category"].to_list(), part["prediction"].to_list())
        for _, part in predictions.group_by("repeat")
    ]
    scores = {
        "accuracy": accuracy_score,
        "balanced_accuracy": balanced_accuracy_score,
        "macro_f1": lambda *pair: f1_score(*pair, average="macro"),
        "abstention_rate": lambda *pair: 0.0,
        "f1_unknown": lambda *pair: f1_score(*pair, labels=["unknown"], average="macro"),
    }
    for name, score in scores.items():
        expected = np.mean([score(*pair) for pair in by_repeat])
        assert intervals[name].value == pytest.approx(expected), name


def test_the_bca_interval_equals_scipy_over_scenario_means_resampled_within_categories():
    predictions = made_up_predictions()
    right = (pl.col("prediction") == pl.col("category")).mean()
    means = predictions.group_by("category", "scenario").agg(right=right).sort("scenario")
    samples = [means.filter(category=category)["right"].to_numpy() for category in CATEGORIES]

    def mean(*parts, axis):
        return np.mean([part.mean(axis=axis) for part in parts], axis=0).round(12)

    expected = scipy_bootstrap(samples, mean, SETTINGS).confidence_interval
    interval = method_intervals(predictions, SETTINGS)["accuracy"]
    assert interval.method == "BCa bootstrap"
    assert (interval.ci_low, interval.ci_high) == pytest.approx(tuple(expected), abs=1e-9)


def test_a_flawless_method_gets_wilsons_interval_and_one_that_is_never_right_has_width():
    intervals = method_intervals(made_up_predictions(accuracy=1.0, repeats=4), SETTINGS)
    for name, n in (("accuracy", 60), ("recall_unknown", 12)):
        expected = stats.binomtest(n, n).proportion_ci(0.95, method="wilson")
        found = intervals[name]
        assert (found.method, found.n) == ("Wilson", n)
        assert (found.ci_low, found.ci_high) == pytest.approx(tuple(expected))
    never = method_intervals(made_up_predictions(accuracy=0.0), SETTINGS)["accuracy"]
    assert (never.value, never.ci_low) == (0, 0)
    assert 0 < never.ci_high < 0.1
    # rounding errors of the closed form do not reach the interval
    for n in range(2, 200):
        assert (wilson(1.0, n, 0.95)[1], wilson(0.0, n, 0.95)[0]) == (1.0, 0.0)


@pytest.mark.parametrize(
    "again",
    [{"repeat": pl.lit(1, pl.Int32)}, {"run_id": pl.col("run_id") + "_again"}],
    ids=["repeats", "runs"],
)
def test_more_of_the_same_answers_narrow_nothing(again):
    once = made_up_predictions(repeats=1)
    widths = []
    for predictions in (once, pl.concat([once, once.with_columns(**again)])):
        interval = method_intervals(predictions, SETTINGS)["accuracy"]
        widths.append(interval.ci_high - interval.ci_low)
    assert widths[1] == pytest.approx(widths[0])


def test_an_interval_holds_its_value_and_a_rate_stays_within_zero_and_one():
    top = {"brier": 2.0, "log_loss": 13.9, "conditions_to_read": 9.0}
    for accuracy in (0.0, 0.05, 0.5, 0.95, 1.0):
        for name, interval in method_intervals(made_up_predictions(accuracy), SETTINGS).items():
            assert 0 <= interval.ci_low <= interval.value <= interval.ci_high <= top.get(name, 1.0)


def test_a_category_with_one_scenario_is_refused():
    single = (pl.col("category") != "unknown") | (pl.col("scenario") == "unknown_0")
    with pytest.raises(BadInputError, match="unknown has a single scenario"):
        scenario_intervals(
            scenario_answers(made_up_predictions().filter(single)), OVERALL, SETTINGS
        )


def test_the_corrected_t_interval_follows_nadeau_and_bengio():
    predictions = made_up_predictions(repeats=10)
    right = (pl.col("prediction") == pl.col("category")).mean()
    folds = predictions.group_by("repeat", "fold").agg(right=right)["right"].to_numpy()
    variance = folds.var(ddof=1) * (1 / 30 + 20 / 40)
    half = stats.t.ppf(0.975, 29) * np.sqrt(variance)
    interval = corrected_t(predictions, 0.95)
    assert (interval.value, interval.ci_low, interval.ci_high) == pytest.approx(
        (folds.mean(), folds.mean() - half, folds.mean() + half)
    )
    with pytest.raises(BadInputError, match="single fold"):
        corrected_t(predictions.filter(repeat=0).with_columns(fold=pl.lit(0, pl.Int32)), 0.95)


def test_the_table_nests_and_does_not_depend_on_the_number_of_workers():
    both = pl.concat(
        made_up_predictions(seed=seed).with_columns(method=pl.lit(f"method_{seed}"))
        for seed in (0, 1)
    )
    table, parallel = (intervals_table(both, SETTINGS, workers) for workers in (1, 2))
    assert table.equals(parallel)
    assert table["method"].unique(maintain_order=True).to_list() == ["method_0", "method_1"]
    nested = nest(table, "feature_set", "method", "metric")["19"]["method_0"]
    assert set(nested["accuracy"]) == {"value", "ci_low", "ci_high", "n"}
    assert (nested["accuracy"]["n"], "calibration_floor" in nested) == (60, True)
    assert set(table["resampling_unit"]) == {"scenario", "fold"}
