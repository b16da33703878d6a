"""Stage intervals: every rate of every method with its interval, and the tables of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import yaml

from failbench.reporting.markup import write_table
from failbench.statistics.costs import UnitCosts
from failbench.statistics.intervals import IntervalSettings, intervals_table, nested_metrics
from failbench.studies.intervals.tables import methods_table, scores_table
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

PREDICTIONS = Path("data/predictions/nested_cv")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/intervals.json")
POINTS = Path("data/plots/intervals.csv")
TABLES = Path("paper/tables")


def main() -> None:
    settings = read_section("intervals", IntervalSettings)
    predictions = pl.concat(read_output(path) for path in sorted(PREDICTIONS.glob("*.parquet")))
    costs = read_section("costs", UnitCosts)
    table = intervals_table(predictions, settings, workers(), costs)
    metrics = nested_metrics(table)
    write_metrics(METRICS, metrics)
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    table.with_columns(pl.selectors.float().round(DECIMALS)).write_csv(POINTS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    write_table(methods_table(metrics, reported, confidence=settings.confidence), TABLES)
    write_table(scores_table(metrics, confidence=settings.confidence), TABLES)
    columns = ("feature_set", "method", "value", "ci_low", "ci_high", "n")
    print_table(columns, table.filter(pl.col("metric") == "accuracy").select(columns).rows())


if __name__ == "__main__":
    run(main)
