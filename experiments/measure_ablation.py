"""Stage measure_ablation: predict with some groups of signals only, without one, and with two."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.classifiers import RandomForestSettings
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_table, read_output, read_section, run, workers
from failbench.studies.ablation.measure import AblationDesign, ablation
from failbench.telemetry import write_parquet

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/ablation")


def main() -> None:
    study = read_section("nested_cv", ReferenceStudy)
    features = read_output(FEATURES, FEATURE_SCHEMA)
    predictions = ablation(
        study.failures(features),
        study.successes(features),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("improved_rules", ImprovedRulesSettings),
        read_section("random_forest", RandomForestSettings),
        read_section("ablation", AblationDesign),
        study.seed,
        workers(),
    )
    for (method,), part in predictions.partition_by("method", as_dict=True).items():
        write_parquet(part, PREDICTIONS / f"{method}.parquet")
    subsets = predictions.group_by("feature_set", "method").agg(pl.col("subset").n_unique())
    print_table(subsets.columns, subsets.sort("feature_set", "method").rows())


if __name__ == "__main__":
    run(main)
