"""Stage per_category: precision, recall and F1 by category, and what methods mix up."""

from __future__ import annotations

from pathlib import Path

from failbench.prediction.main_study import prediction_files
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.per_category.report import report
from report import publish, read_reported
from stage import read_metrics, read_names, read_outputs, read_section, run, workers

PREDICTIONS = Path("data/predictions/nested_cv")
MEASURED = Path("data/metrics/intervals.json")


def main() -> None:
    settings = read_section("intervals", IntervalSettings)
    predictions = read_outputs(PREDICTIONS, prediction_files(read_names("methods")))
    measured = read_metrics(MEASURED)
    publish("per_category", report(predictions, measured, read_reported(), settings, workers()))


if __name__ == "__main__":
    run(main)
