"""Stage measure_architectures: what the improved rules say on every architecture."""

from __future__ import annotations

from pathlib import Path

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import read_output, read_section, run, workers
from failbench.studies.architectures.measure import ArchitecturesDesign, rules_on_architectures
from failbench.telemetry import write_parquet
from recordings import read_recordings

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
PREDICTIONS = Path("data/predictions/architectures/improved_rules.parquet")


def main() -> None:
    predictions = rules_on_architectures(
        read_output(FEATURES, FEATURE_SCHEMA),
        read_output(SPLITS, SPLIT_SCHEMA),
        *read_recordings(TELEMETRY, SCENARIOS),
        read_section("nested_cv", ReferenceStudy),
        read_section("improved_rules", ImprovedRulesSettings),
        read_section("architectures", ArchitecturesDesign),
        workers(),
    )
    write_parquet(predictions, PREDICTIONS)


if __name__ == "__main__":
    run(main)
