"""The rules on the committed recordings of two architectures, and rates of made-up predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from architectures import (
    AGAINST_OTHERS,
    ALL,
    OVER_LOGS,
    SPREAD,
    ArchitecturesSettings,
    estimates,
    sizes,
)
from failbench.base.errors import BadInputError
from failbench.base.method_settings import ImprovedRulesSettings
from failbench.base.scenarios import read_scenarios
from failbench.base.slices import ReferenceStudy
from failbench.base.studies import LEFT_OUT, NESTED_CV, SAME_REPEATS
from failbench.base.telemetry import STEP_SCHEMA, Telemetry, read_telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import band_features
from failbench.statistics.intervals import ScenarioIntervalSettings
from made_up_studies import made_up_study
from measure_architectures import MEASURED, calibrations, rules_on_architectures, with_noise
from shared.architectures import RECORDED, RULES

SETTINGS = ArchitecturesSettings(
    noise=(0.05,), noisy_logs=2, percentile=0.99, equivalence_margin=0.1, power=0.8, seed=0
)
INTERVALS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, wilson_from=0.9, wilson_below=0, seed=0
)
RULES_SETTINGS = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
REFERENCE = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0, 1, 2), seed=0
)
PAIR = ("transformer", "gru")


@pytest.fixture(scope="module")
def committed(repository: Path) -> tuple[pl.DataFrame, pl.DataFrame, Telemetry]:
    """Features of the reference and of one seed of another, first splits, and telemetry."""
    features = pl.read_parquet(repository / "data/features/features.parquet")
    splits = pl.read_parquet(repository / "data/features/splits.parquet")
    telemetry = read_telemetry(repository / "data/telemetry")
    reference = pl.col("architecture") == REFERENCE.architecture
    kept = reference | (pl.col("seed") == 0) | (pl.col("kind") == "success")
    taken = features.filter(pl.col("architecture").is_in(PAIR), pl.col("optimizer") == "adamw")
    return taken.filter(kept), splits.filter(pl.col("repeat") == 0), telemetry


@pytest.fixture(scope="module")
def predictions(committed, repository: Path) -> pl.DataFrame:
    features, splits, telemetry = committed
    scenarios = read_scenarios(repository / "data/scenarios")
    return rules_on_architectures(
        features, splits, telemetry, scenarios, REFERENCE, RULES_SETTINGS, SETTINGS
    )


def test_on_the_reference_predictions_are_those_of_the_main_study(predictions, repository):
    stored = pl.read_parquet(repository / "data/predictions/nested_cv/improved_rules.parquet")
    shared = [name for name in stored.columns if name != "study"]
    expected = stored.filter(pl.col("feature_set") == "19", pl.col("repeat") == 0).select(shared)
    reference = predictions.filter(
        pl.col("thresholds") == "reference",
        pl.col("noise") == RECORDED,
        pl.col("architecture") == "transformer",
    )
    assert_frame_equal(reference.select(shared), expected, check_row_order=False)


def test_thresholds_of_its_own_come_from_an_architectures_successful_runs_alone(committed):
    features, _, _ = committed
    reference = HealthyBand(
        dict.fromkeys(band_features(), 1.0), dict.fromkeys(band_features(), 0.0)
    )
    taken = {
        (calibration.thresholds, calibration.architecture): calibration
        for calibration in calibrations(features, reference, RULES_SETTINGS, SETTINGS)
    }
    healthy = features.filter(pl.col("kind") == "success", pl.col("architecture") == "gru")
    norms = healthy["max_gradient_norm"].to_numpy()
    deviations = taken["own_deviations", "gru"]
    assert deviations.band.upper("max_gradient_norm", 3) == pytest.approx(
        norms.mean() + 3 * norms.std(ddof=1)
    )
    percentile = np.quantile(norms, 0.99)
    for name in ("own_percentile", "own_percentile_and_limit"):
        assert taken[name, "gru"].band.upper("max_gradient_norm", 3) == pytest.approx(percentile)
    assert taken["own_percentile", "gru"].gradient_norm == 1000
    assert taken["own_percentile_and_limit", "gru"].gradient_norm == pytest.approx(percentile)
    assert taken["reference", "gru"].band is reference


def test_an_architecture_without_successful_runs_cannot_be_calibrated(committed):
    features, _, _ = committed
    gone = features.filter((pl.col("kind") == "failure") | (pl.col("architecture") != "gru"))
    band = HealthyBand({}, {})
    with pytest.raises(BadInputError, match="Record the successful runs of this architecture"):
        list(calibrations(gone, band, RULES_SETTINGS, SETTINGS))


def test_only_measurements_change_and_runs_and_types_stay(small_telemetry):
    noised = with_noise(small_telemetry, 0.05, np.random.default_rng(0))
    assert_frame_equal(noised.runs, small_telemetry.runs)
    assert noised.steps.schema == STEP_SCHEMA
    assert_frame_equal(noised.steps.drop(MEASURED), small_telemetry.steps.drop(MEASURED))
    for name in ("loss", "gradient_norm", "memory_bytes", "step_seconds"):
        assert not noised.steps[name].equals(small_telemetry.steps[name])


def test_factors_have_a_median_of_one_and_the_level_as_deviation_of_their_logarithm():
    many = pl.DataFrame(
        {name: [1.0] * 20_000 for name in STEP_SCHEMA if name != "run_id"}
    ).with_columns(run_id=pl.lit("a"), memory_bytes=pl.lit(10**9))
    telemetry = Telemetry(pl.DataFrame(), many.select(STEP_SCHEMA.names()).cast(STEP_SCHEMA))
    noised = with_noise(telemetry, 0.2, np.random.default_rng(0)).steps
    logarithms = np.log(noised["loss"].cast(pl.Float64).to_numpy())
    assert np.median(logarithms) == pytest.approx(0, abs=0.005)
    assert logarithms.std() == pytest.approx(0.2, rel=0.02)
    memory = np.log(noised["memory_bytes"].to_numpy() / 1e9)
    assert abs(np.corrcoef(logarithms, memory)[0, 1]) < 0.03  # each column has factors of its own


@pytest.fixture(scope="module")
def made_up_rules() -> pl.DataFrame:
    """Two noisy logs that differ, over recorded ones."""
    part = made_up_study(LEFT_OUT).with_columns(
        study=pl.lit(RULES), method=pl.lit("improved_rules")
    )
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
def features(made_up_rules) -> pl.DataFrame:
    runs = made_up_rules.select("run_id", "architecture").unique()
    return runs.with_columns(parameter_count=pl.lit(1e5))


@pytest.fixture(scope="module")
def table(made_up_rules, features) -> pl.DataFrame:
    """Of a main study whose second repeat abstains from everything."""
    main = made_up_study(NESTED_CV)
    later = main.with_columns(repeat=pl.lit(1, pl.Int32), prediction=pl.lit("abstain"))
    predictions = pl.concat([made_up_study(LEFT_OUT), main, later])
    return estimates(made_up_rules, predictions, features, INTERVALS, SETTINGS)


def rate(predictions: pl.DataFrame) -> float:
    right = (pl.col("prediction") == pl.col("category")).mean()
    return predictions.group_by("scenario").agg(right=right)["right"].to_numpy().mean()


def test_a_rate_is_the_mean_over_scenarios_of_all_noisy_logs_together(table, made_up_rules):
    noisy = made_up_rules.filter(pl.col("noise") > 0, pl.col("architecture") == "gru")
    rows = table.filter(
        pl.col("study") == RULES, pl.col("noise") > 0, pl.col("architecture") == "gru"
    )
    rates = {row["metric"]: row for row in rows.iter_rows(named=True)}
    assert rates["accuracy"]["value"] == pytest.approx(rate(noisy))
    assert (rates["accuracy"]["n"], rates["accuracy"]["unit"]) == (8 * len(CATEGORIES), "scenario")
    first, second = (rate(noisy.filter(pl.col("log") == log)) for log in (1, 2))
    over = rates[OVER_LOGS]
    assert (over["n"], over["unit"]) == (2, "noisy log")
    assert over["value"] == pytest.approx((first + second) / 2)
    half = 12.706204736 * abs(first - second) / 2  # Student's t, one degree of freedom
    assert over["ci_high"] - over["value"] == pytest.approx(half)


def test_each_family_says_how_far_each_architecture_is_from_the_others(table):
    compared = table.filter(pl.col("study").is_in([RULES, LEFT_OUT]))
    for _, family in compared.group_by("study", "method", "noise"):
        metrics = family.group_by("metric").agg(pl.col("architecture").sort())
        named = dict(metrics.rows())
        assert named[AGAINST_OTHERS] == ["gru", "lstm", "transformer"]
        assert named[SPREAD] == [ALL]


def test_the_main_study_stands_beside_at_all_repeats_and_at_equal_ones(table):
    same, every = (
        table.filter(study=study, metric="accuracy")["value"].item()
        for study in (SAME_REPEATS, NESTED_CV)
    )
    assert same > 0
    assert same == pytest.approx(2 * every)


def test_a_size_is_the_median_of_the_runs_that_count_with_the_smallest_and_the_largest():
    features = pl.DataFrame(
        {
            "run_id": ["a", "b", "c", "not_asked"],
            "architecture": ["gru", "gru", "gru", "gru"],
            "parameter_count": [10.0, 20.0, 60.0, 900.0],
        }
    )
    size = sizes(features, pl.DataFrame({"run_id": ["a", "b", "c", "c"]})).row(0, named=True)
    assert (size["architecture"], size["n"]) == ("gru", 3)
    assert (size["value"], size["ci_low"], size["ci_high"]) == (20.0, 10.0, 60.0)
