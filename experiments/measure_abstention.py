"""Stage measure_abstention: the improved rules on the training side of every fold."""

from __future__ import annotations

from pathlib import Path

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.studies.abstention.measure import measure
from failbench.studies.abstention.settings import RULES, AbstentionSettings
from failbench.telemetry import write_parquet
from stage import print_accuracy, read_output, read_section, run, workers

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/abstention")


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
