"""Stage sensitivity: two choices of the main study made the other way."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.methods.boosting_machine import EbmSettings
from failbench.methods.classifiers import DecisionTreeSettings, RandomForestSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.sensitivity.results import (
    SensitivitySettings,
    sensitivity,
    sensitivity_metrics,
)
from failbench.studies.sensitivity.tables import sensitivity_table
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

SCENARIOS = Path("data/scenarios")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
PREDICTIONS = Path("data/predictions/nested_cv")
METRICS = Path("data/metrics/sensitivity.json")
POINTS = Path("data/plots/sensitivity.csv")
TABLES = Path("paper/tables")


def main() -> None:
    settings = read_section("sensitivity", SensitivitySettings)
    intervals = read_section("intervals", IntervalSettings)
    methods = {
        "decision_tree": read_section("decision_tree", DecisionTreeSettings),
        "random_forest": read_section("random_forest", RandomForestSettings),
        "ebm": read_section("ebm", EbmSettings),
    }
    table = sensitivity(
        read_output(FEATURES),
        read_output(SPLITS),
        read_scenarios(SCENARIOS),
        methods,
        pl.concat(read_output(PREDICTIONS / f"{name}.parquet") for name in methods),
        read_section("nested_cv", ReferenceStudy),
        settings,
        intervals,
        workers(),
    )
    write_metrics(METRICS, sensitivity_metrics(table))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    table.with_columns(pl.selectors.float().round(DECIMALS)).write_csv(POINTS)
    write_table(
        sensitivity_table(
            table, confidence=intervals.confidence, interactions=settings.interactions
        ),
        TABLES,
    )
    columns = ("variant", "method", "metric", "value", "ci_low", "ci_high", "n")
    print_table(columns, table.select(columns).rows())


if __name__ == "__main__":
    run(main)
