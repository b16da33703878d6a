"""Stage ablation: methods with some groups of signals only, without one, and two together."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.classifiers import RandomForestSettings
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.studies.ablation.figure import draw_ablation
from failbench.studies.ablation.measure import AblationSettings, ablation
from failbench.studies.ablation.results import ablation_metrics, ablation_points, ablation_results
from failbench.studies.ablation.tables import ablation_tables, interactions_table, reported_surplus
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/ablation.json")
POINTS = Path("data/plots/ablation.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/ablation.svg")


def main() -> None:
    settings = read_section("ablation", AblationSettings)
    study = read_section("nested_cv", ReferenceStudy)
    features = read_output(FEATURES)
    answers = ablation(
        study.failures(features),
        study.successes(features),
        read_output(SPLITS),
        read_section("improved_rules", ImprovedRulesSettings),
        read_section("random_forest", RandomForestSettings),
        settings,
        study.seed,
        workers(),
    )
    results = ablation_results(answers, settings, workers())
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    surplus = reported_surplus(reported, settings.confidence)
    write_metrics(METRICS, ablation_metrics(results, surplus, 1 - settings.confidence))
    points = ablation_points(results)
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.with_columns(pl.selectors.float().round(DECIMALS)).write_csv(POINTS)
    tables = ablation_tables(points, reported, settings)
    measured = [each for one in results for each in one.interactions]
    together = interactions_table(
        [*surplus, *measured], settings.superadditive, confidence=settings.confidence
    )
    for table in (*tables, together):
        write_table(table, TABLES)
    mpl.rc_file("figures/matplotlibrc")
    save_svg(draw_ablation(points, reported), FIGURE)
    columns = ("feature_set", "method", "subset", "value", "ci_low", "ci_high", "p_holm", "n")
    print_table(columns, points.filter(pl.col("metric") == "accuracy").select(columns).rows())


if __name__ == "__main__":
    run(main)
