"""Stage unknown_anatomy: the unknown scenarios one by one, and what would settle them."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import grouped_metrics
from failbench.studies.unknown_anatomy.figure import draw_unknown_anatomy
from failbench.studies.unknown_anatomy.results import (
    UnknownAnatomySettings,
    anatomy_metrics,
    unknown_anatomy,
)
from failbench.studies.unknown_anatomy.tables import anatomy_points, anatomy_tables
from failbench.telemetry import read_telemetry
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

PREDICTIONS = Path("data/predictions/nested_cv")
FEATURES = Path("data/features")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/unknown_anatomy.json")
POINTS = Path("data/plots/unknown_anatomy.csv")
ANSWERS = Path("data/plots/unknown_answers.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/unknown_anatomy.svg")


def main() -> None:
    settings = read_section("unknown_anatomy", UnknownAnatomySettings)
    reference = read_section("nested_cv", ReferenceStudy)
    mpl.rc_file("figures/matplotlibrc")
    found = unknown_anatomy(
        pl.concat(read_output(path) for path in sorted(PREDICTIONS.glob("*.parquet"))),
        read_telemetry(Path("data/telemetry")),
        read_output(FEATURES / "features.parquet"),
        read_output(FEATURES / "splits.parquet"),
        read_scenarios(Path("data/scenarios")),
        reference,
        settings,
        workers(),
    )
    write_metrics(METRICS, grouped_metrics(anatomy_metrics(found)))
    rounded = pl.selectors.float().round(DECIMALS)
    points = anatomy_points(found).with_columns(rounded)
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    found.answers.with_columns(rounded).write_csv(ANSWERS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    for table in anatomy_tables(found, settings, reported):
        write_table(table, TABLES)
    save_svg(draw_unknown_anatomy(points), FIGURE)
    rates = ((name, one["recall_unknown"], one["accuracy"]) for name, one in found.rates.items())
    print_table(
        ("features", "unknown told", "ci_low", "ci_high", "accuracy"),
        [(name, told.value, told.ci_low, told.ci_high, all_.value) for name, told, all_ in rates],
    )


if __name__ == "__main__":
    run(main)
