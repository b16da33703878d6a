"""Stage tradeoff: accuracy against what a reader must check, beside the paper's own scores."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.reporting.style import save_svg
from failbench.studies.tradeoff.figure import tradeoff, tradeoff_points
from stage import DECIMALS, print_table, run

METRICS = Path("data/metrics/intervals.json")
REPORTED = Path("data/reported/paper.yaml")
POINTS = Path("data/plots/tradeoff.csv")


def main() -> None:
    mpl.rc_file("figures/matplotlibrc")
    measured = json.loads(METRICS.read_text(encoding="utf-8"))
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    points = tradeoff_points(measured, reported)
    save_svg(tradeoff(points), Path("figures/tradeoff.svg"))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.with_columns(pl.selectors.float().round(DECIMALS)).write_csv(POINTS)
    columns = ("source", "method", "accuracy", "conditions", "score_low", "score_high")
    print_table(columns, points.select(columns).rows())


if __name__ == "__main__":
    run(main)
