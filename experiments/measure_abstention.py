"""Stage measure_abstention: the improved rules on the training side of every fold."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base.method_settings import ImprovedRulesSettings
from failbench.base.predictions import PREDICTION_SCHEMA, SPLIT_SCHEMA
from failbench.base.slices import ReferenceStudy
from failbench.base.stage import print_accuracy, read_output, read_section, run, workers
from failbench.base.telemetry import write_parquet
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import by_tested_fold, within_training
from shared.abstention import RULES, AbstentionSettings

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/abstention")


def measure(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    rules: ImprovedRulesSettings,
    feature_set: str,
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict the scenarios that each fold trains on, by inner fits to its other folds."""
    features = {feature_set: FEATURE_SETS[feature_set]}
    plans = within_training("within_training", splits)
    pairs = nested_cv(failures, successes, splits, RULES, rules, features, seed, workers, plans)
    predictions = by_tested_fold(pairs, splits)
    return predictions.cast(PREDICTION_SCHEMA).sort(PREDICTION_SCHEMA.names()[:6])


def main() -> None:
    study = read_section("nested_cv", ReferenceStudy)
    settings = read_section("abstention", AbstentionSettings)
    features = read_output(FEATURES, FEATURE_SCHEMA)
    predictions = measure(
        study.failures(features),
        study.successes(features),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("improved_rules", ImprovedRulesSettings),
        settings.feature_set,
        study.seed,
        workers(),
    )
    write_parquet(predictions, PREDICTIONS / f"{RULES}.parquet")
    print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
