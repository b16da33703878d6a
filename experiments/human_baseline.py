"""Stage human_baseline: what a simulation of people can say, and what the paper's can mean."""

from __future__ import annotations

from pathlib import Path

from failbench.methods.simulated_human import SimulatedHumanSettings
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_output, read_section
from failbench.statistics.settings import read_with_statistics
from failbench.studies.human_baseline.report import report
from failbench.studies.human_baseline.results import SCENARIO_SCHEMA, SHARE_SCHEMA
from failbench.studies.human_baseline.settings import HumanBaselineSettings
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

HYBRID = Path("data/predictions/nested_cv/hybrid.parquet")
DIFFICULTY = Path("data/measurements/difficulty")


def main() -> None:
    settings = read_with_statistics("human_baseline", HumanBaselineSettings)
    levels = read_section("simulated_human", SimulatedHumanSettings).levels
    scenarios = read_output(DIFFICULTY / "scenarios.parquet", SCENARIO_SCHEMA)
    shares = read_output(DIFFICULTY / "shares.parquet", SHARE_SCHEMA)
    hybrid, paper = read_output(HYBRID, PREDICTION_SCHEMA), read_reported()
    publish("human_baseline", report(levels, scenarios, shares, hybrid, paper, settings))


if __name__ == "__main__":
    run(main)
