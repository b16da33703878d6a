"""Stage generalization: what methods are worth on architectures that they have not seen."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.prediction.main_study import (
    LANGUAGE_MODELS,
    across_architectures_files,
    prediction_files,
)
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_outputs
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.generalization.report import report
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

MAIN_STUDY = Path("data/predictions/nested_cv")
ACROSS_ARCHITECTURES = Path("data/predictions/across_architectures")


def main() -> None:
    settings, methods = read_statistics(ScenarioIntervalSettings), read_names("methods")
    predictions = pl.concat(
        [
            read_outputs(
                MAIN_STUDY, prediction_files(methods), PREDICTION_SCHEMA, (LANGUAGE_MODELS,)
            ),
            read_outputs(
                ACROSS_ARCHITECTURES, across_architectures_files(methods), PREDICTION_SCHEMA
            ),
        ]
    )
    publish("generalization", report(predictions, read_reported(), settings))


if __name__ == "__main__":
    run(main)
