"""Stage raw_telemetry: out-of-fold predictions from step series and error text without features."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.evaluation.raw_telemetry import raw_predictions
from failbench.evaluation.studies import ReferenceStudy
from failbench.methods.raw_telemetry import RawTelemetrySettings
from failbench.raw_table import raw_table
from failbench.scenarios import read_scenarios
from failbench.telemetry import read_telemetry, write_parquet
from stage import print_accuracy, read_output, read_section, run, workers

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = {
    "raw_series": Path("data/predictions/nested_cv/raw_series.parquet"),
    "raw_text": Path("data/predictions/nested_cv/raw_text.parquet"),
    "raw_telemetry": Path("data/predictions/nested_cv/raw_telemetry.parquet"),
}


def main() -> None:
    settings = read_section("raw_telemetry", RawTelemetrySettings)
    study = read_section("nested_cv", ReferenceStudy)
    features = read_output(FEATURES)
    splits = read_output(SPLITS)
    successes = study.successes(features)
    run_ids = study.failures(features)["run_id"]
    failing = read_telemetry(TELEMETRY).select(pl.col("run_id").is_in(run_ids.implode()))
    failures = raw_table(failing, read_scenarios(SCENARIOS))
    for method, path in PREDICTIONS.items():
        found = raw_predictions(
            failures, successes, splits, method, settings, study.seed, workers()
        )
        write_parquet(found, path)
        print_accuracy(found)


if __name__ == "__main__":
    run(main)
