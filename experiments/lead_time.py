"""Stage lead_time: how early the cause of a failure can be told, and at what price."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.reported import reported_number, validate_reported
from failbench.reporting.style import save_svg
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.lead_time.figure import draw_lead_time
from failbench.studies.lead_time.results import LeadTimeSettings, lead_time_metrics, lead_time_study
from failbench.studies.lead_time.tables import lead_time_table
from failbench.telemetry import read_telemetry
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
SPLITS = Path("data/features/splits.parquet")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/lead_time.json")
POINTS = Path("data/plots/lead_time.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/lead_time.svg")

LAST_SNAPSHOT = 100
"""Steps before failure of the one snapshot whose accuracy the paper gives as a number."""


def main() -> None:
    settings = read_section("lead_time", LeadTimeSettings)
    intervals = read_section("intervals", IntervalSettings)
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "logistic_regression": settings.logistic_regression,
        "random_forest": settings.random_forest,
    }
    mpl.rc_file("figures/matplotlibrc")
    found = lead_time_study(
        read_telemetry(TELEMETRY),
        read_scenarios(SCENARIOS),
        read_output(SPLITS),
        read_section("nested_cv", ReferenceStudy),
        methods,
        settings,
        intervals,
        workers(),
    )
    write_metrics(METRICS, lead_time_metrics(found))
    points = found.rates.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    table = lead_time_table(
        points,
        reported,
        calibration_runs=found.calibration_runs,
        limits=found.limits,
        false_alarms=settings.false_alarms,
        confidence=intervals.confidence,
    )
    write_table(table, TABLES)
    accuracy = reported_number(validate_reported(reported), "lead_time_100")
    save_svg(draw_lead_time(points, (LAST_SNAPSHOT, accuracy)), FIGURE)
    columns = ("method", "steps", "metric", "value", "ci_low", "ci_high", "n")
    print_table(
        columns, points.filter(pl.col("steps").is_in([0, 10, 50, 100])).select(columns).rows()
    )


if __name__ == "__main__":
    run(main)
