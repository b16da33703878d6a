"""Stage label_audit: the labels of the scenarios against raters that were told the causes."""

from __future__ import annotations

from pathlib import Path

from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.label_audit.raters import read_ratings
from failbench.studies.label_audit.report import report
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

RATINGS = Path("data/reported/label_raters.csv")
SCENARIOS = Path("data/scenarios")


def main() -> None:
    settings = read_statistics(ScenarioIntervalSettings)
    ratings = read_ratings(RATINGS, read_scenarios(SCENARIOS))
    publish("label_audit", report(ratings, read_reported(), settings))


if __name__ == "__main__":
    run(main)
