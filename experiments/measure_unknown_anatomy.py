"""Stage measure_unknown_anatomy: a forest with more to go by or less, and look-alikes."""

from __future__ import annotations

from pathlib import Path

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_accuracy, read_output, read_section, run, workers
from failbench.studies.unknown_anatomy.measure import measure
from failbench.studies.unknown_anatomy.settings import UnknownAnatomyDesign
from failbench.telemetry import read_telemetry, write_parquet

TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/unknown_anatomy")
MEASUREMENTS = Path("data/measurements/unknown_anatomy")


def main() -> None:
    measured = measure(
        read_telemetry(TELEMETRY),
        read_output(FEATURES, FEATURE_SCHEMA),
        read_output(SPLITS, SPLIT_SCHEMA),
        read_section("nested_cv", ReferenceStudy),
        read_section("unknown_anatomy", UnknownAnatomyDesign),
        workers(),
    )
    write_parquet(measured.predictions, PREDICTIONS / "random_forest.parquet")
    write_parquet(measured.neighbours, MEASUREMENTS / "neighbours.parquet")
    write_parquet(measured.partners, MEASUREMENTS / "partners.parquet")
    print_accuracy(measured.predictions)


if __name__ == "__main__":
    run(main)
