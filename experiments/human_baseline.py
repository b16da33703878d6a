"""Stage human_baseline: what a simulation of people can say, and what the paper's can mean."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.simulated_human import SimulatedHumanSettings
from failbench.reporting.markup import write_table
from failbench.reporting.reported import reported_number, validate_reported
from failbench.reporting.style import save_svg
from failbench.statistics.intervals import grouped_metrics
from failbench.studies.human_baseline.figure import draw_human_baseline
from failbench.studies.human_baseline.results import (
    HumanBaselineSettings,
    human_baseline,
    human_metrics,
)
from failbench.studies.human_baseline.tables import human_tables, study_points
from stage import (
    DECIMALS,
    print_table,
    read_output,
    read_points,
    read_section,
    run,
    write_metrics,
)

HYBRID = Path("data/predictions/nested_cv/hybrid.parquet")
DIFFICULTY = Path("data/plots/difficulty.csv")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/human_baseline.json")
POINTS = Path("data/plots/human_baseline.csv")
CURVES = Path("data/plots/human_skill.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/human_baseline.svg")


def main() -> None:
    settings = read_section("human_baseline", HumanBaselineSettings)
    levels = read_section("simulated_human", SimulatedHumanSettings).levels
    mpl.rc_file("figures/matplotlibrc")
    raw = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    paper = validate_reported(raw)
    reported = (reported_number(paper, "human_accuracy"), reported_number(paper, "human_sd"))
    found = human_baseline(
        levels, read_points(DIFFICULTY), read_output(HYBRID), settings, reported[0]
    )
    write_metrics(METRICS, grouped_metrics(human_metrics(found)))
    points = study_points(found).with_columns(pl.selectors.float().round(DECIMALS))
    curves = found.curves.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    curves.write_csv(CURVES)
    for table in human_tables(found, settings, raw):
        write_table(table, TABLES)
    save_svg(draw_human_baseline(points, curves, reported), FIGURE)
    columns = ("coupling", "design", "n", "accuracy", "low", "high", "deviation")
    print_table(columns, points.select(columns).rows())


if __name__ == "__main__":
    run(main)
