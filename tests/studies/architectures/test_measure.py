"""The rules on the committed recordings of two architectures."""

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
from failbench.prediction.slices import ReferenceStudy
from failbench.scenarios import read_scenarios
from failbench.studies.architectures.measure import (
    RECORDED,
    ArchitecturesDesign,
    calibrations,
    rules_on_architectures,
)
from failbench.telemetry import Telemetry, read_telemetry

SETTINGS = ArchitecturesDesign(noise=(0.05,), noisy_logs=2, percentile=0.99, seed=0)
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
        calibrations(gone, band, RULES_SETTINGS, SETTINGS)
