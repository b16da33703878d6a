"""Stage measure_importance: replace signals in held-out runs, and read off the shapes of EBM."""

from __future__ import annotations

from pathlib import Path

from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.features.known_columns import flags_in
from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import RandomForestSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import SPLIT_SCHEMA
from failbench.stage import print_accuracy, read_names, read_output, read_section, run, workers
from failbench.studies.importance.measure import (
    IMPORTANCE_SETS,
    KNOWN_SET,
    ImportanceDesign,
    importances,
    methods_asked,
)
from failbench.studies.importance.shapes import leading_shapes
from failbench.telemetry import write_parquet
from known_runs import read_known

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
KNOWN = Path("data/features/known.parquet")
PREDICTIONS = Path("data/predictions/importance")
MEASUREMENTS = Path("data/measurements/importance")

Methods = dict[str, RandomForestSettings | EbmSettings]


def main() -> None:
    settings = read_section("importance", ImportanceDesign)
    study = read_section("nested_cv", ReferenceStudy)
    boosting = read_section("ebm", EbmSettings)
    forest = read_section("random_forest", RandomForestSettings)
    failures = study.failures(read_output(FEATURES, FEATURE_SCHEMA))
    splits = read_output(SPLITS, SPLIT_SCHEMA)
    methods: Methods = {"random_forest": forest, "ebm": boosting}
    on_known: Methods = {
        "forest_on_invariants": read_section("forest_on_invariants", RandomForestSettings),
        "ebm_on_invariants": read_section("ebm_on_invariants", EbmSettings),
    }
    asked = set(methods_asked(read_names("methods")))
    on_known = {name: section for name, section in on_known.items() if name in asked}
    known = read_known(KNOWN, on_known)
    table = None if known is None else known.beside(failures)
    measured = importances(failures, splits, methods, settings, study.seed, workers())
    if table is not None:
        sets = {KNOWN_SET: flags_in(table.columns)}
        more = importances(table, splits, on_known, settings, study.seed, workers(), sets)
        measured = measured.with_those_of(more)
    shapes = leading_shapes(failures, boosting, IMPORTANCE_SETS["19"], study.seed, settings.shapes)
    for (method,), part in measured.predictions.partition_by("method", as_dict=True).items():
        write_parquet(part, PREDICTIONS / f"{method}.parquet")
    write_parquet(measured.replacements, MEASUREMENTS / "replacements.parquet")
    write_parquet(measured.built_in, MEASUREMENTS / "built_in.parquet")
    write_parquet(shapes, MEASUREMENTS / "shapes.parquet")
    print_accuracy(measured.predictions)


if __name__ == "__main__":
    run(main)
