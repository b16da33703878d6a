from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED, SAME_REPEATS
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.intervals import IntervalSettings, method_intervals
from generalization import ASKED, GAIN, estimates
from made_up_studies import ARCHITECTURES, SCENARIOS, made_up_studies, made_up_study

SETTINGS = IntervalSettings(
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=0,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)
N = SCENARIOS * len(CATEGORIES)


@pytest.fixture(scope="module")
def predictions() -> pl.DataFrame:
    return made_up_studies()


@pytest.fixture(scope="module")
def table(predictions: pl.DataFrame) -> pl.DataFrame:
    return estimates(predictions, SETTINGS)


def row(table: pl.DataFrame, study: str, metric: str) -> dict[str, object]:
    return table.row(
        by_predicate=(pl.col("study") == study) & (pl.col("metric") == metric), named=True
    )


def scenario_means(predictions: pl.DataFrame) -> np.ndarray:
    right = predictions.with_columns(right=pl.col("prediction") == pl.col("category"))
    return (
        right.group_by("scenario").agg(pl.col("right").mean()).sort("scenario")["right"].to_numpy()
    )


def test_values_and_intervals_are_those_of_the_main_study_where_they_are_the_same(
    table, predictions
):
    main = predictions.filter(pl.col("study") == NESTED_CV)
    number = pl.col("scenario").str.extract(r"(\d+)$").cast(pl.Int32)
    expected = method_intervals(main.with_columns(fold=number % 2), SETTINGS)
    for metric in ("accuracy", "balanced_accuracy", "macro_f1", "abstention_rate"):
        rate = row(table, NESTED_CV, metric)
        bounds = (expected[metric].value, expected[metric].ci_low, expected[metric].ci_high)
        assert (rate["value"], rate["ci_low"], rate["ci_high"]) == bounds


def test_a_scenario_counts_once_however_many_runs_it_has(table, predictions):
    pooled = predictions.filter(pl.col("study") == POOLED)
    accuracy = row(table, POOLED, "accuracy")
    assert (accuracy["n"], accuracy["runs"]) == (N, 2 * N * len(ARCHITECTURES))
    assert accuracy["value"] == pytest.approx(scenario_means(pooled).mean())
    # More runs of the same answers add nothing: the interval is over scenarios.
    again = pooled.with_columns(run_id=pl.format("{}-again", "run_id"))
    more = estimates(pl.concat([predictions, again]), SETTINGS)
    wider = row(more, POOLED, "accuracy")
    assert wider["runs"] == 2 * accuracy["runs"]
    assert (wider["ci_low"], wider["ci_high"]) == pytest.approx(
        (accuracy["ci_low"], accuracy["ci_high"])
    )


def test_a_scenario_that_an_architecture_lacks_is_the_mean_of_the_runs_it_has(predictions):
    lacking = (pl.col("scenario") == "unknown_0") & (pl.col("architecture") == "gru")
    fewer = predictions.filter(~lacking)
    table = estimates(fewer, SETTINGS)
    left_out = row(table, LEFT_OUT, "accuracy")
    assert (left_out["n"], left_out["runs"]) == (N, 2 * N * len(ARCHITECTURES) - 2)
    for study in (POOLED, LEFT_OUT, KNOWN_SCENARIOS):
        of_study = fewer.filter(pl.col("study") == study)
        expected = scenario_means(of_study).mean()
        assert row(table, study, "accuracy")["value"] == pytest.approx(expected)


def test_gain_is_the_paired_difference_over_scenarios_whatever_the_folds(table, predictions):
    gain = row(table, KNOWN_SCENARIOS, GAIN)
    known, new = (
        scenario_means(predictions.filter(pl.col("study") == study))
        for study in (KNOWN_SCENARIOS, LEFT_OUT)
    )
    assert gain["value"] == pytest.approx((known - new).mean())
    assert gain["ci_low"] < gain["value"] < gain["ci_high"]
    assert gain["n"] == N


def test_a_method_that_was_not_asked_of_known_scenarios_gains_nothing(predictions, table):
    fewer = predictions.filter(pl.col("study") != KNOWN_SCENARIOS).with_columns(
        method=pl.lit("invariants")
    )
    both = estimates(pl.concat([predictions, fewer]), SETTINGS)
    of_method = both.filter(pl.col("method") == "invariants")
    assert set(of_method["study"]) == set(ASKED) - {KNOWN_SCENARIOS}
    assert both.filter(pl.col("method") != "invariants").equals(table)


def test_the_main_study_is_there_once_more_in_the_repeats_of_the_others(predictions):
    main = made_up_study(NESTED_CV)
    later = main.with_columns(repeat=pl.lit(1, pl.Int32), prediction=pl.lit("abstain"))
    alone = later.with_columns(method=pl.lit("raw_text"))
    table = estimates(pl.concat([predictions, later, alone]), SETTINGS)
    forest = table.filter(method="random_forest")
    same, every = row(forest, SAME_REPEATS, "accuracy"), row(forest, NESTED_CV, "accuracy")
    assert (same["repeats"], every["repeats"]) == (1, 2)
    assert same["value"] == pytest.approx(scenario_means(main).mean())
    assert every["value"] == pytest.approx(scenario_means(main).mean() / 2)
    assert set(table.filter(study=SAME_REPEATS)["method"]) == {"random_forest"}
