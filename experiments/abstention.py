"""Stage abstention: why the improved rules abstain, and what another threshold is worth."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.statistics.intervals import IntervalSettings, nested_metrics
from failbench.studies.abstention.figure import draw_abstention
from failbench.studies.abstention.results import AbstentionSettings, study_abstentions
from failbench.studies.abstention.tables import reasons_table, thresholds_table
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/nested_cv/improved_rules.parquet")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/abstention.json")
POINTS = Path("data/plots/abstention.csv")
FIGURE = Path("figures/abstention.svg")
TABLES = Path("paper/tables")


def main() -> None:
    study = read_section("nested_cv", ReferenceStudy)
    rules = read_section("improved_rules", ImprovedRulesSettings)
    settings = read_section("abstention", AbstentionSettings)
    intervals = read_section("intervals", IntervalSettings)
    mpl.rc_file("figures/matplotlibrc")
    features = read_output(FEATURES)
    figures = study_abstentions(
        study.failures(features),
        study.successes(features),
        read_output(SPLITS),
        read_output(PREDICTIONS),
        rules,
        settings,
        intervals,
        study.seed,
        workers(),
    )
    as_metrics = figures.rename({"part": "feature_set", "key": "method"})
    write_metrics(METRICS, nested_metrics(as_metrics))
    points = figures.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    asked = {"tau": rules.tau, "target": settings.precision}
    confidence = intervals.confidence
    write_table(reasons_table(points, reported, intervals), TABLES)
    write_table(thresholds_table(points, reported, **asked, confidence=confidence), TABLES)
    save_svg(draw_abstention(points, reported, **asked), FIGURE)
    columns = ("part", "key", "metric", "value", "ci_low", "ci_high", "n")
    print_table(columns, points.select(columns).rows())


if __name__ == "__main__":
    run(main)
