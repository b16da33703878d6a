"""Stage architectures: whether the improved rules are worth the same on every architecture."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import polars as pl
import yaml

from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.slices import ReferenceStudy
from failbench.reporting.markup import write_table
from failbench.reporting.style import save_svg
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import IntervalSettings
from failbench.studies.architectures.figure import draw_architectures
from failbench.studies.architectures.measure import ArchitecturesSettings
from failbench.studies.architectures.rates import ArchitectureInputs, architectures_study
from failbench.studies.architectures.results import architecture_metrics
from failbench.studies.architectures.stability_tables import left_out_table, stability_table
from failbench.studies.architectures.tables import architectures_table, thresholds_table
from failbench.telemetry import read_telemetry
from stage import DECIMALS, print_table, read_output, read_section, run, workers, write_metrics

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
PREDICTIONS = Path("data/predictions/across_architectures")
REPORTED = Path("data/reported/paper.yaml")
METRICS = Path("data/metrics/architectures.json")
POINTS = Path("data/plots/architectures.csv")
TABLES = Path("paper/tables")
FIGURE = Path("figures/architectures.svg")


def main() -> None:
    inputs = ArchitectureInputs(
        reference=read_section("nested_cv", ReferenceStudy),
        rules=read_section("improved_rules", ImprovedRulesSettings),
        intervals=read_section("intervals", IntervalSettings),
        architectures=read_section("architectures", ArchitecturesSettings),
    )
    table = architectures_study(
        read_output(FEATURES),
        read_output(SPLITS),
        read_telemetry(TELEMETRY),
        read_scenarios(SCENARIOS),
        pl.concat(read_output(path) for path in sorted(PREDICTIONS.glob("*.parquet"))),
        inputs,
        workers(),
    )
    write_metrics(METRICS, architecture_metrics(table))
    points = table.with_columns(pl.selectors.float().round(DECIMALS))
    POINTS.parent.mkdir(parents=True, exist_ok=True)
    points.write_csv(POINTS)
    reported = yaml.safe_load(REPORTED.read_text(encoding="utf-8"))
    settings, rules, confidence = inputs.architectures, inputs.rules, inputs.intervals.confidence
    sds, limit = rules.healthy_sds, rules.gradient_norm
    for one in (
        architectures_table(table, reported, settings, confidence=confidence),
        thresholds_table(
            table, settings, healthy_sds=sds, gradient_norm=limit, confidence=confidence
        ),
        stability_table(table, settings, healthy_sds=sds, confidence=confidence),
        left_out_table(table, reported, confidence=confidence),
    ):
        write_table(one, TABLES)
    mpl.rc_file("figures/matplotlibrc")
    save_svg(draw_architectures(points, reported, settings), FIGURE)
    columns = ("method", "thresholds", "noise", "value", "smallest_margin", "n")
    print_table(columns, table.filter(pl.col("metric") == "spread").select(columns).rows())


if __name__ == "__main__":
    run(main)
