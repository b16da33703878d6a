"""Stage human_baseline: what a simulation of people can say, and what the paper's can mean."""

from __future__ import annotations

from pathlib import Path

from failbench.methods.simulated_human import SimulatedHumanSettings
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.human_baseline.report import report
from failbench.studies.human_baseline.results import EASE_SCHEMA, HumanBaselineSettings
from report import publish, read_reported
from stage import read_output, read_points, read_section, run

HYBRID = Path("data/predictions/nested_cv/hybrid.parquet")
DIFFICULTY = Path("data/plots/difficulty.csv")


def main() -> None:
    settings = read_section("human_baseline", HumanBaselineSettings)
    levels = read_section("simulated_human", SimulatedHumanSettings).levels
    difficulty = read_points(DIFFICULTY, EASE_SCHEMA)
    hybrid = read_output(HYBRID, PREDICTION_SCHEMA)
    publish("human_baseline", report(levels, difficulty, hybrid, read_reported(), settings))


if __name__ == "__main__":
    run(main)
