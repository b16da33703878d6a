"""Stage lead_time: how early the cause of a failure can be diagnosed, and at what cost."""

from __future__ import annotations

from pathlib import Path

from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_names, read_output, read_outputs, read_section, workers
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.lead_time.measurements import (
    EARLY_SCHEMA,
    HEALTHY_SCORES_SCHEMA,
    RUNS_SCHEMA,
    SCORES_SCHEMA,
    Measurements,
)
from failbench.studies.lead_time.report import report
from failbench.studies.lead_time.settings import LeadTimeSettings, methods_asked
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

MAIN_STUDY = Path("data/predictions/nested_cv")
PREDICTIONS = Path("data/predictions/lead_time")
MEASUREMENTS = Path("data/measurements/lead_time")


def main() -> None:
    settings = read_section("lead_time", LeadTimeSettings)
    intervals = read_statistics(ScenarioIntervalSettings)
    asked = methods_asked(read_names("methods"))
    measured = Measurements(
        read_outputs(PREDICTIONS, asked, EARLY_SCHEMA),
        read_output(MEASUREMENTS / "runs.parquet", RUNS_SCHEMA),
        read_output(MEASUREMENTS / "scores.parquet", SCORES_SCHEMA),
        read_output(MEASUREMENTS / "healthy_scores.parquet", HEALTHY_SCORES_SCHEMA),
    )
    main_study, paper = read_outputs(MAIN_STUDY, asked, PREDICTION_SCHEMA), read_reported()
    publish("lead_time", report(measured, main_study, paper, settings, intervals, workers()))


if __name__ == "__main__":
    run(main)
