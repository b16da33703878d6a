"""Stage per_category: precision, recall and F1 by category, and what methods mix up."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.statistics.intervals import IntervalSettings, nested_metrics
from failbench.studies.per_category.figure import draw_confusions
from failbench.studies.per_category.results import confusion_table, precision_table
from failbench.studies.per_category.tables import confusion_of_rules, scores_by_category
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

PREDICTIONS = Path("data/predictions/nested_cv")
MEASURED = Path("data/metrics/intervals.json")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/per_category.json")
POINTS = Path("data/plots/per_category.csv")
FIGURE = Path("figures/per_category.svg")
TABLES = Path("paper/tables")


def main() -> None:
    settings = read_section("intervals", IntervalSettings)
    mpl.rc_file("figures/matplotlibrc")
    predictions = pl.concat(read_output(path) for path in sorted(PREDICTIONS.glob("*.parquet")))
    table = precision_table(predictions, settings, workers())
    precisions = nested_metrics(table)
    write_metrics(METRICS, precisions)
    confusions = confusion_table(predictions).with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    confusions.write_csv(POINTS)
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    write_table(scores_by_category(measured, precisions, reported, settings), TABLES)
    confidence = settings.confidence
    write_table(confusion_of_rules(confusions, measured, reported, confidence=confidence), TABLES)
    save_svg(draw_confusions(confusions), FIGURE)
    columns = ("feature_set", "method", "metric", "value", "ci_low", "ci_high", "n")
    print_table(columns, table.select(columns).rows())


if __name__ == "__main__":
    run(main)
