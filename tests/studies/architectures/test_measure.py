"""The rules on the committed recordings of two architectures, and rates of made-up answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.errors import BadInputError
from failbench.methods.healthy_band import HealthyBand
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.improved_tree import band_features
from failbench.prediction.fold_plans import LEFT_OUT
from failbench.prediction.slices import ReferenceStudy
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.architectures.measure import (
    RECORDED,
    THRESHOLDS,
    ArchitecturesSettings,
    calibrations,
    rules_on_architectures,
)
from failbench.studies.architectures.rates import (
    AGAINST_OTHERS,
    ALL,
    OVER_LOGS,
    RULES,
    SPREAD,
    architecture_rates,
)
from failbench.studies.architectures.results import architecture_metrics
from failbench.telemetry import Telemetry, read_telemetry
from failbench.vocabulary import CATEGORIES
from made_up_studies import made_up_study

SETTINGS = ArchitecturesSettings(
    noise=(0.05,), noisy_logs=2, percentile=0.99, equivalence_margin=0.1, power=0.8, seed=0
)
RULES_SETTINGS = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
REFERENCE = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seed=0, seed=0
)
INTERVALS = IntervalSettings(resamples=1000, confidence=0.95, wilson_from=0.9, seed=0)
PAIR = ("transformer", "gru")


@pytest.fixture(scope="module")
def committed(repository: Path) -> tuple[pl.DataFrame, pl.DataFrame, Telemetry]:
    """Features, splits of the first repeat, and telemetry of two architectures, one seed."""
    features = pl.read_parquet(repository / "data/features/features.parquet")
    splits = pl.read_parquet(repository / "data/features/splits.parquet")
    telemetry = read_telemetry(repository / "data/telemetry")
    one_seed = (pl.col("seed") == 0) | (pl.col("kind") == "success")
    taken = features.filter(pl.col("architecture").is_in(PAIR), pl.col("optimizer") == "adamw")
    return taken.filter(one_seed), splits.filter(pl.col("repeat") == 0), telemetry


@pytest.fixture(scope="module")
def answers(committed, repository: Path) -> pl.DataFrame:
    features, splits, telemetry = committed
    scenarios = read_scenarios(repository / "data/scenarios")
    return rules_on_architectures(
        features, splits, telemetry, scenarios, REFERENCE, RULES_SETTINGS, SETTINGS
    )


def test_on_the_reference_the_answers_are_those_of_the_main_study(answers, repository):
    stored = pl.read_parquet(repository / "data/predictions/nested_cv/improved_rules.parquet")
    key = ["repeat", "fold", "run_id", "prediction"]
    expected = stored.filter(pl.col("feature_set") == "19", pl.col("repeat") == 0).select(key)
    found = answers.filter(
        pl.col("thresholds") == "reference",
        pl.col("noise") == RECORDED,
        pl.col("architecture") == "transformer",
    )
    assert_frame_equal(found.select(key), expected, check_row_order=False)


def test_each_run_has_an_answer_under_each_threshold_and_noise_is_for_the_reference_alone(answers):
    counts = answers.group_by("thresholds", "noise", "log").len()
    assert set(counts["thresholds"]) == set(THRESHOLDS)
    assert counts["len"].n_unique() == 1
    assert set(answers.filter(pl.col("noise") > 0)["thresholds"]) == {"reference"}
    assert counts.height == len(THRESHOLDS) + SETTINGS.noisy_logs


def test_thresholds_of_its_own_come_from_an_architectures_successful_runs_alone(committed):
    features, _, _ = committed
    reference = HealthyBand(
        dict.fromkeys(band_features(), 1.0), dict.fromkeys(band_features(), 0.0)
    )
    found = {
        (one.thresholds, one.architecture): one
        for one in calibrations(features, reference, RULES_SETTINGS, SETTINGS)
    }
    healthy = features.filter(pl.col("kind") == "success", pl.col("architecture") == "gru")
    norms = healthy["max_gradient_norm"].to_numpy()
    own = found["own_deviations", "gru"]
    assert own.band.upper("max_gradient_norm", 3) == pytest.approx(
        norms.mean() + 3 * norms.std(ddof=1)
    )
    percentile = np.quantile(norms, 0.99)
    for name in ("own_percentile", "own_percentile_and_limit"):
        assert found[name, "gru"].band.upper("max_gradient_norm", 3) == pytest.approx(percentile)
    assert found["own_percentile", "gru"].gradient_norm == 1000
    assert found["own_percentile_and_limit", "gru"].gradient_norm == pytest.approx(percentile)
    assert found["reference", "gru"].band is reference


def test_an_architecture_without_successful_runs_cannot_be_calibrated(committed):
    features, _, _ = committed
    gone = features.filter((pl.col("kind") == "failure") | (pl.col("architecture") != "gru"))
    band = HealthyBand({}, {})
    with pytest.raises(BadInputError, match="Record the successful runs of this architecture"):
        calibrations(gone, band, RULES_SETTINGS, SETTINGS)


def test_a_single_architecture_is_refused(committed):
    features, splits, telemetry = committed
    alone = features.filter(pl.col("architecture") == "transformer")
    with pytest.raises(BadInputError, match="1 was recorded with adamw at scale small"):
        rules_on_architectures(alone, splits, telemetry, (), REFERENCE, RULES_SETTINGS, SETTINGS)


@pytest.fixture(scope="module")
def made_up_answers() -> pl.DataFrame:
    """Two noisy logs that differ, over recorded ones."""
    part = made_up_study(LEFT_OUT).drop("study", "method")
    levels = [(RECORDED, 0), (0.05, 1), (0.05, 2)]
    return pl.concat(
        part.with_columns(
            thresholds=pl.lit("reference"),
            noise=pl.lit(noise),
            log=pl.lit(log, pl.Int32),
            prediction=pl.when(pl.int_range(pl.len()) % (7 - log) == 0)
            .then(pl.lit("abstain"))
            .otherwise("prediction")
            if log
            else pl.col("prediction"),
        )
        for noise, log in levels
    )


@pytest.fixture(scope="module")
def table(made_up_answers) -> pl.DataFrame:
    return architecture_rates(made_up_answers, made_up_study(LEFT_OUT), INTERVALS, SETTINGS)


def rate(predictions: pl.DataFrame) -> float:
    right = (pl.col("prediction") == pl.col("category")).mean()
    return predictions.group_by("scenario").agg(right=right)["right"].to_numpy().mean()


def test_a_rate_is_the_mean_over_scenarios_of_all_noisy_logs_together(table, made_up_answers):
    noisy = made_up_answers.filter(pl.col("noise") > 0, pl.col("architecture") == "gru")
    rows = table.filter(
        pl.col("study") == RULES, pl.col("noise") > 0, pl.col("architecture") == "gru"
    )
    found = {row["metric"]: row for row in rows.iter_rows(named=True)}
    assert found["accuracy"]["value"] == pytest.approx(rate(noisy))
    assert (found["accuracy"]["n"], found["accuracy"]["unit"]) == (8 * len(CATEGORIES), "scenario")
    one, two = (rate(noisy.filter(pl.col("log") == log)) for log in (1, 2))
    over = found[OVER_LOGS]
    assert (over["n"], over["unit"]) == (2, "noisy log")
    assert over["value"] == pytest.approx((one + two) / 2)
    half = 12.706204736 * abs(one - two) / 2  # Student's t, one degree of freedom
    assert over["ci_high"] - over["value"] == pytest.approx(half)


def test_each_family_says_how_far_each_architecture_is_from_the_others(table):
    for _, family in table.group_by("study", "method", "noise"):
        metrics = family.group_by("metric").agg(pl.col("architecture").sort())
        named = dict(metrics.rows())
        assert named[AGAINST_OTHERS] == ["gru", "lstm", "transformer"]
        assert named[SPREAD] == [ALL]


def test_metrics_have_leaves_of_scalars_and_verdicts_their_margins(table):
    found = architecture_metrics(table)
    leaf = found[RULES]["reference"]["noise_5_percent"]["gru"]["accuracy"]
    assert set(leaf) == {"value", "ci_low", "ci_high", "n"}
    spread = found[LEFT_OUT]["random_forest"][ALL][SPREAD]
    assert spread["ci_high"] == spread["smallest_margin"]
    assert all(isinstance(one, int | float) for one in spread.values())


def test_predictions_without_an_architecture_left_out_are_refused(made_up_answers):
    none = made_up_study("pooled")
    with pytest.raises(BadInputError, match="there are none of leave_one_architecture_out"):
        architecture_rates(made_up_answers, none, INTERVALS, SETTINGS)
