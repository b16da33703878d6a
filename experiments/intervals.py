"""Stage intervals: every rate of every method with its interval, and the tables of them."""

from __future__ import annotations

from pathlib import Path

from failbench.prediction.main_study import LANGUAGE_MODELS, prediction_files
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_output, read_outputs, read_section, workers
from failbench.statistics.costs import UnitCosts
from failbench.statistics.method_intervals import IntervalSettings
from failbench.statistics.settings import read_with_statistics
from failbench.studies.intervals.report import report
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run
from failbench.telemetry import RUN_SCHEMA

PREDICTIONS = Path("data/predictions/nested_cv")
RECORDED = Path("data/telemetry/runs.parquet")


def main() -> None:
    settings = read_with_statistics("intervals", IntervalSettings)
    costs = read_section("costs", UnitCosts)
    files = prediction_files(read_names("methods"))
    predictions = read_outputs(PREDICTIONS, files, PREDICTION_SCHEMA, (LANGUAGE_MODELS,))
    recorded = read_output(RECORDED, RUN_SCHEMA)
    publish("intervals", report(predictions, recorded, read_reported(), settings, costs, workers()))


if __name__ == "__main__":
    run(main)
