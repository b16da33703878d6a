"""Stage portability: accuracy of rules and classifiers of one optimizer under another."""

from __future__ import annotations

from pathlib import Path

from failbench.stage import read_names, read_outputs, read_section, workers
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.statistics.significance import ComparisonSettings
from failbench.studies.portability.report import report
from failbench.studies.portability.settings import (
    CARRIED_SCHEMA,
    PortabilitySettings,
    methods_carried,
)
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

PREDICTIONS = Path("data/predictions/portability")


def main() -> None:
    settings = read_section("portability", PortabilitySettings)
    intervals = read_statistics(ScenarioIntervalSettings)
    tests = read_statistics(ComparisonSettings)
    predictions = read_outputs(PREDICTIONS, methods_carried(read_names("methods")), CARRIED_SCHEMA)
    publish(
        "portability",
        report(predictions, read_reported(), settings, intervals, tests, workers()),
    )


if __name__ == "__main__":
    run(main)
