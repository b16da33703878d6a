"""Stage measure_controls: answers from what must not tell the label, and with planted labels."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.features.raw_table import raw_table
from failbench.methods.raw.telemetry import RawTelemetrySettings
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import read_output, read_section, run, workers
from failbench.studies.controls.control_tables import control_tables
from failbench.studies.controls.measure import (
    control_predictions,
    permuted_accuracies,
    require_categories,
    twins_predictions,
)
from failbench.studies.controls.planted import planted_predictions
from failbench.studies.controls.settings import ControlDesign
from failbench.telemetry import write_parquet
from recordings import read_recordings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/controls")
MEASUREMENTS = Path("data/measurements/controls")


def main() -> None:
    settings = read_section("controls", ControlDesign)
    raw = read_section("raw_telemetry", RawTelemetrySettings)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    features = settings.slice(read_output(FEATURES, FEATURE_SCHEMA))
    splits = read_output(SPLITS, SPLIT_SCHEMA)
    tables = control_tables(
        telemetry, scenarios, settings.architecture, settings.optimizer, settings.scale
    )
    require_categories(tables)
    predictions = control_predictions(tables, telemetry.runs, settings)
    write_parquet(predictions, PREDICTIONS / "forest.parquet")
    permuted = permuted_accuracies(tables, settings, workers())
    write_parquet(permuted, MEASUREMENTS / "permuted_accuracies.parquet")

    failures, successes = (
        features.filter(pl.col("kind") == kind) for kind in ("failure", "success")
    )
    first = splits.filter(pl.col("repeat") == 0)
    planted = planted_predictions(failures, successes, first, settings.seed)
    write_parquet(planted, PREDICTIONS / "decision_tree.parquet")

    twins = settings.slice(raw_table(telemetry.select(pl.col("kind") == "twin"), scenarios))
    answers = twins_predictions(twins, successes, splits, raw, settings, workers())
    write_parquet(answers, PREDICTIONS / "raw_series.parquet")


if __name__ == "__main__":
    run(main)
