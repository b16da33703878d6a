"""Stage portability: what rules and classifiers of one optimizer are worth under another."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.methods.simple_rules import SimpleRulesSettings
from failbench.reporting.markup import write_table
from failbench.reporting.reported import reported_number, validate_reported
from failbench.reporting.style import save_svg
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import IntervalSettings
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.portability.figure import draw_portability
from failbench.studies.portability.results import (
    PortabilitySettings,
    portability_metrics,
    portability_study,
)
from failbench.studies.portability.tables import portability_contrasts_table, portability_table
from failbench.telemetry import read_telemetry
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
SPLITS = Path("data/features/splits.parquet")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/portability.json")
POINTS = Path("data/plots/portability.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/portability.svg")


def main() -> None:
    settings = read_section("portability", PortabilitySettings)
    intervals = read_section("intervals", IntervalSettings)
    tests = read_section("significance", SignificanceSettings)
    methods = {
        "simple_rules": read_section("simple_rules", SimpleRulesSettings),
        "improved_rules": read_section("improved_rules", ImprovedRulesSettings),
        "logistic_regression": settings.logistic_regression,
        "random_forest": settings.random_forest,
    }
    mpl.rc_file("figures/matplotlibrc")
    found = portability_study(
        read_telemetry(TELEMETRY),
        read_scenarios(SCENARIOS),
        read_output(SPLITS),
        methods,
        settings,
        intervals,
        tests,
        workers(),
    )
    write_metrics(METRICS, portability_metrics(found, tests.alpha))
    points = found.rates.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    settled = {"home": settings.home, "away": settings.away}
    rates = portability_table(
        points,
        reported,
        **settled,
        own_history_steps=settings.own_history_steps,
        confidence=intervals.confidence,
    )
    write_table(rates, TABLES)
    contrasts = portability_contrasts_table(
        found.comparisons,
        **settled,
        margin=tests.equivalence_margin,
        power=tests.power,
        confidence=tests.confidence,
    )
    write_table(contrasts, TABLES)
    sgd = reported_number(validate_reported(reported), "sgd_accuracy")
    save_svg(draw_portability(points, sgd, **settled), FIGURE)
    columns = ("method", "condition", "metric", "value", "ci_low", "ci_high", "n", "runs")
    print_table(columns, points.filter(pl.col("metric") == "accuracy").select(columns).rows())


if __name__ == "__main__":
    run(main)
