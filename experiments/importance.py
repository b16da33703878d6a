"""Stage importance: signals that two classifiers use, and shape functions of the glassbox."""

from __future__ import annotations

from pathlib import Path

from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_output, read_outputs
from failbench.statistics.settings import read_with_statistics
from failbench.studies.importance.measure import (
    BUILT_IN_SCHEMA,
    REPLACEMENT_SCHEMA,
    Importances,
    methods_asked,
)
from failbench.studies.importance.removal import ABLATION_SCHEMA
from failbench.studies.importance.report import report
from failbench.studies.importance.results import ImportanceSettings
from failbench.studies.importance.shapes import SHAPE_SCHEMA
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

PREDICTIONS = Path("data/predictions/importance")
ABLATION = Path("data/predictions/ablation/random_forest.parquet")
MEASUREMENTS = Path("data/measurements/importance")


def main() -> None:
    settings = read_with_statistics("importance", ImportanceSettings)
    measured = Importances(
        read_outputs(PREDICTIONS, methods_asked(read_names("methods")), PREDICTION_SCHEMA),
        read_output(MEASUREMENTS / "replacements.parquet", REPLACEMENT_SCHEMA),
        read_output(MEASUREMENTS / "built_in.parquet", BUILT_IN_SCHEMA),
    )
    shapes = read_output(MEASUREMENTS / "shapes.parquet", SHAPE_SCHEMA)
    ablation = read_output(ABLATION, ABLATION_SCHEMA)
    publish("importance", report(measured, shapes, ablation, read_reported(), settings))


if __name__ == "__main__":
    run(main)
