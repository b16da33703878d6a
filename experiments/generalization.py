"""Stage generalization: what methods are worth on architectures that they have not seen."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl

from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.generalization.figure import draw_generalization
from failbench.studies.generalization.results import generalization_metrics, generalization_table
from failbench.studies.generalization.tables import studies_table
from stage import DECIMALS, print_table, read_output, read_section, run, write_metrics

STUDIES = (
    Path("data/predictions/nested_cv"),
    Path("data/predictions/across_architectures"),
)
METRICS = Path("data/metrics/generalization.json")
POINTS = Path("data/plots/generalization.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/generalization.svg")


def main() -> None:
    settings = read_section("intervals", IntervalSettings)
    mpl.rc_file("figures/matplotlibrc")
    paths = [path for folder in STUDIES for path in sorted(folder.glob("*.parquet"))]
    table = generalization_table(pl.concat(map(read_output, paths)), settings)
    write_metrics(METRICS, generalization_metrics(table))
    points = table.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    write_table(studies_table(table, confidence=settings.confidence), TABLES)
    save_svg(draw_generalization(points), FIGURE)
    columns = ("study", "feature_set", "method", "value", "ci_low", "ci_high", "n", "runs")
    print_table(columns, table.filter(pl.col("metric") == "accuracy").select(columns).rows())


if __name__ == "__main__":
    run(main)
