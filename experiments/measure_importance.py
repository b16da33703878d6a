"""Stage measure_importance: replace signals in held-out runs, and read off the shapes of EBM."""

from __future__ import annotations

from pathlib import Path

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import RandomForestSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.studies.importance.measure import IMPORTANCE_SETS, ImportanceDesign, importances
from failbench.studies.importance.shapes import leading_shapes
from failbench.telemetry import write_parquet
from stage import print_accuracy, read_output, read_section, run, workers

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/importance")
MEASUREMENTS = Path("data/measurements/importance")


def main() -> None:
    settings = read_section("importance", ImportanceDesign)
    study = read_section("nested_cv", ReferenceStudy)
    boosting = read_section("ebm", EbmSettings)
    forest = read_section("random_forest", RandomForestSettings)
    failures = study.failures(read_output(FEATURES, FEATURE_SCHEMA))
    measured = importances(
        failures,
        read_output(SPLITS, SPLIT_SCHEMA),
        {"random_forest": forest, "ebm": boosting},
        settings,
        study.seed,
        workers(),
    )
    shapes = leading_shapes(failures, boosting, IMPORTANCE_SETS["19"], study.seed, settings.shapes)
    for (method,), part in measured.predictions.partition_by("method", as_dict=True).items():
        write_parquet(part, PREDICTIONS / f"{method}.parquet")
    write_parquet(measured.replacements, MEASUREMENTS / "replacements.parquet")
    write_parquet(measured.built_in, MEASUREMENTS / "built_in.parquet")
    write_parquet(shapes, MEASUREMENTS / "shapes.parquet")
    print_accuracy(measured.predictions)


if __name__ == "__main__":
    run(main)
