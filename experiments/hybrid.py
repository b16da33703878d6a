"""Stage hybrid: what each route of the hybrids is worth, and which thresholds are cheapest."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.hybrid import HybridSettings
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.statistics.costs import UnitCosts
from failbench.statistics.intervals import IntervalSettings, nested_metrics
from failbench.studies.hybrid.figure import draw_hybrids
from failbench.studies.hybrid.results import RoutingSettings, study_hybrids
from failbench.studies.hybrid.tables import routes_table, thresholds_table
from stage import DECIMALS, print_table, read_output, read_section, run, write_metrics

HYBRID = Path("data/predictions/nested_cv/hybrid.parquet")
TWO_WAY = Path("data/predictions/nested_cv/hybrid_two_way.parquet")
RULES = Path("data/predictions/nested_cv/improved_rules.parquet")
FOREST = Path("data/predictions/nested_cv/random_forest.parquet")
HUMAN = Path("data/predictions/nested_cv/simulated_human.parquet")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/hybrid.json")
POINTS = Path("data/plots/hybrid.csv")
FIGURE = Path("figures/hybrid.svg")
TABLES = Path("paper/tables")


def main() -> None:
    thresholds = read_section("hybrid", HybridSettings)
    costs = read_section("costs", UnitCosts)
    settings = read_section("routing", RoutingSettings)
    intervals = read_section("intervals", IntervalSettings)
    mpl.rc_file("figures/matplotlibrc")
    found = study_hybrids(
        {"hybrid": read_output(HYBRID), "hybrid_two_way": read_output(TWO_WAY)},
        read_output(RULES),
        {"classifier": read_output(FOREST), "human": read_output(HUMAN)},
        thresholds,
        costs,
        settings,
        intervals,
    )
    metrics = found.figures.rename({"part": "feature_set", "key": "method"})
    write_metrics(METRICS, nested_metrics(metrics))
    points = found.grid.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    confidence = intervals.confidence
    write_table(routes_table(found.figures, reported, costs, confidence=confidence), TABLES)
    write_table(
        thresholds_table(found.figures, thresholds, settings.halves, confidence=confidence), TABLES
    )
    save_svg(draw_hybrids(found.figures, points, reported, thresholds, costs.human), FIGURE)
    columns = ("part", "key", "metric", "value", "ci_low", "ci_high", "n")
    print_table(columns, found.figures.select(columns).rows())


if __name__ == "__main__":
    run(main)
