"""Stage per_category: precision, recall and F1 by category, and what methods mix up."""

from __future__ import annotations

from pathlib import Path

from failbench.features.catalogue import PRIMARY_SET
from failbench.prediction.main_study import LANGUAGE_MODELS, prediction_files
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_outputs, workers
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.per_category.report import report
from failbench.study.inputs import read_metrics, read_reported
from failbench.study.publish import publish, run

PREDICTIONS = Path("data/predictions/nested_cv")
MEASURED = Path("data/metrics/intervals.json")


def main() -> None:
    settings = read_statistics(ScenarioIntervalSettings)
    files = prediction_files(read_names("methods"))
    predictions = read_outputs(PREDICTIONS, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))
    measured = read_metrics(MEASURED, PRIMARY_SET)
    publish("per_category", report(predictions, measured, read_reported(), settings, workers()))


if __name__ == "__main__":
    run(main)
