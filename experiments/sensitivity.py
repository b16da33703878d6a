"""Stage sensitivity: choices of the main study made the other way."""

from __future__ import annotations

from pathlib import Path

from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_outputs, read_section
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.sensitivity.report import report
from failbench.studies.sensitivity.settings import METHODS, SensitivitySettings
from failbench.study.publish import publish, run

MEASURED = Path("data/predictions/sensitivity")
PREDICTIONS = Path("data/predictions/nested_cv")


def main() -> None:
    settings = read_section("sensitivity", SensitivitySettings)
    intervals = read_statistics(ScenarioIntervalSettings)
    measured, known = (
        read_outputs(folder, METHODS, PREDICTION_SCHEMA) for folder in (MEASURED, PREDICTIONS)
    )
    publish("sensitivity", report(measured, known, settings, intervals))


if __name__ == "__main__":
    run(main)
