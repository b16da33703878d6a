"""Stage hybrid: what each route of the hybrids is worth, and which thresholds are cheapest."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.methods.hybrid import HybridSettings
from failbench.prediction.main_study import ON_INVARIANTS
from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_output, read_section
from failbench.statistics.costs import UnitCosts
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.hybrid.report import report
from failbench.studies.hybrid.results import RoutingSettings
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run
from failbench.vocabulary import Route

HYBRID = Path("data/predictions/nested_cv/hybrid.parquet")
TWO_WAY = Path("data/predictions/nested_cv/hybrid_two_way.parquet")
MONITOR = Path("data/predictions/nested_cv/hybrid_monitor.parquet")
RULES = Path("data/predictions/nested_cv/improved_rules.parquet")
FOREST = Path("data/predictions/nested_cv/random_forest.parquet")
HUMAN = Path("data/predictions/nested_cv/simulated_human.parquet")


def main() -> None:
    thresholds = read_section("hybrid", HybridSettings)
    costs = read_section("costs", UnitCosts)
    settings = read_section("routing", RoutingSettings)
    intervals = read_statistics(ScenarioIntervalSettings)
    hybrids = {
        "hybrid": read_output(HYBRID, PREDICTION_SCHEMA),
        "hybrid_two_way": read_output(TWO_WAY, PREDICTION_SCHEMA),
        ON_INVARIANTS: read_output(MONITOR, PREDICTION_SCHEMA),
    }
    rules = read_output(RULES, PREDICTION_SCHEMA)
    members: dict[Route, pl.DataFrame] = {
        "classifier": read_output(FOREST, PREDICTION_SCHEMA),
        "human": read_output(HUMAN, PREDICTION_SCHEMA),
    }
    paper = read_reported()
    publish(
        "hybrid", report(hybrids, rules, members, paper, thresholds, costs, settings, intervals)
    )


if __name__ == "__main__":
    run(main)
