"""Stage importance: which signals two classifiers rest on, and how the glassbox one uses them."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import RandomForestSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.studies.importance.figure import draw_importance, draw_shapes
from failbench.studies.importance.measure import IMPORTANCE_SETS, ImportanceSettings, importances
from failbench.studies.importance.results import (
    importance_metrics,
    importance_table,
    leading_share,
    source_agreement,
)
from failbench.studies.importance.shapes import leading_shapes
from failbench.studies.importance.tables import importance_tables
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/importance.json")
POINTS = Path("data/plots/importance.csv")
SHAPES = Path("data/plots/ebm_shapes.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/importance.svg")
SHAPES_FIGURE = Path("figures/ebm_shapes.svg")
# The ends of a step are in its feature's units, and some are smaller than a rate's last decimal.
RATES = pl.selectors.float() - pl.selectors.by_name("low", "high", require_all=False)


def main() -> None:
    settings = read_section("importance", ImportanceSettings)
    study = read_section("nested_cv", ReferenceStudy)
    boosting = read_section("ebm", EbmSettings)
    forest = read_section("random_forest", RandomForestSettings)
    failures = study.failures(read_output(FEATURES))
    found = importances(
        failures,
        read_output(SPLITS),
        {"random_forest": forest, "ebm": boosting},
        settings,
        study.seed,
        workers(),
    )
    table = importance_table(found, settings)
    agreement = source_agreement(found)
    leading = {name: leading_share(found.own, name, "random_forest") for name in IMPORTANCE_SETS}
    write_metrics(METRICS, importance_metrics(table, agreement, leading))
    shapes = leading_shapes(failures, boosting, IMPORTANCE_SETS["19"], study.seed, settings.shapes)
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    for points, path in ((table, POINTS), (shapes, SHAPES)):
        points.with_columns(RATES.round(DECIMALS)).write_csv(path)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    for one in importance_tables(table, agreement, leading, reported, settings):
        write_table(one, TABLES)
    mpl.rc_file("figures/matplotlibrc")
    save_svg(draw_importance(table, reported), FIGURE)
    save_svg(draw_shapes(shapes), SHAPES_FIGURE)
    columns = ("feature_set", "method", "name", "value", "ci_low", "ci_high", "share", "own", "n")
    print_table(columns, table.filter(pl.col("kind") == "group").select(columns).rows())


if __name__ == "__main__":
    run(main)
