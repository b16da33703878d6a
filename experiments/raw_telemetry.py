"""Stage raw_telemetry: out-of-fold predictions from step series and error text without features."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base.predictions import first_repeats, read_splits
from failbench.base.slices import AcrossArchitectures, ReferenceStudy
from failbench.base.stage import print_accuracy, read_section, run, workers
from failbench.base.studies import POOLED
from failbench.base.telemetry import write_parquet
from failbench.features.feature_table import raw_table, read_features
from failbench.methods.raw_telemetry import RawTelemetrySettings
from failbench.prediction.splits import by_scenario
from recordings import read_recordings
from shared.raw_telemetry import raw_predictions

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
PREDICTIONS = {
    "raw_series": Path("data/predictions/nested_cv/raw_series.parquet"),
    "raw_text": Path("data/predictions/nested_cv/raw_text.parquet"),
    "raw_telemetry": Path("data/predictions/nested_cv/raw_telemetry.parquet"),
}
POOLED_METHOD = "raw_telemetry"
POOLED_PREDICTIONS = Path("data/predictions/across_architectures/raw_telemetry.parquet")

POOLED_WORKERS = 2
"""Fits to all runs at a time, each of which holds half a gigabyte: ten thousand columns of all runs
several times over."""


def main() -> None:
    settings = read_section("raw_telemetry", RawTelemetrySettings)
    study = read_section("nested_cv", ReferenceStudy)
    across = read_section("across_architectures", AcrossArchitectures)
    splits = read_splits()
    successes = read_features().filter(pl.col("kind") == "success")
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    failures = raw_table(telemetry.select(pl.col("kind") == "failure"), scenarios)
    of_study = study.failures(failures), study.successes(successes), splits
    for method, path in PREDICTIONS.items():
        predictions = raw_predictions(*of_study, method, settings, study.seed, workers())
        write_parquet(predictions, path)
        print_accuracy(predictions)
    # Methods without features are thought to need more runs than others; all architectures have
    # several times as many, though of no more scenarios. The fits that leave an architecture out
    # are not made: they are eight times as many, and what they ask is another question.
    folds = first_repeats(splits, across.repeats, "across_architectures.repeats")
    predictions = raw_predictions(
        across.slice(failures),
        across.slice(successes),
        folds,
        POOLED_METHOD,
        settings,
        across.seed,
        min(workers(), POOLED_WORKERS),
        by_scenario(POOLED, folds),
        across.feature_sets,
    )
    write_parquet(predictions, POOLED_PREDICTIONS)
    print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
