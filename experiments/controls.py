"""Stage controls: what must not tell the label is shown not to, and a planted leak is found."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.features.raw_table import raw_table
from failbench.methods.raw.telemetry import RawTelemetrySettings
from failbench.scenarios import read_scenarios
from failbench.statistics.intervals import LEAVES
from failbench.studies.controls.control_tables import control_tables
from failbench.studies.controls.leak_test import leak_test
from failbench.studies.controls.raw_twins import twins_control
from failbench.studies.controls.results import ControlSettings, run_controls
from failbench.telemetry import read_telemetry
from stage import print_table, read_output, read_section, run, workers, write_metrics

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
METRICS = Path("data/metrics/controls.json")


def main() -> None:
    settings = read_section("controls", ControlSettings)
    telemetry = read_telemetry(TELEMETRY)
    scenarios = read_scenarios(SCENARIOS)
    tables = control_tables(
        telemetry,
        scenarios,
        settings.architecture,
        settings.optimizer,
        settings.scale,
    )
    results = run_controls(tables, settings, workers())
    features = settings.slice(read_output(FEATURES))
    successes = features.filter(pl.col("kind") == "success")
    splits = read_output(SPLITS)
    harness = leak_test(
        features.filter(pl.col("kind") == "failure"),
        successes,
        splits.filter(pl.col("repeat") == 0),
        settings.seed,
    )
    raw_twins = twins_control(
        settings.slice(raw_table(telemetry.select(pl.col("kind") == "twin"), scenarios)),
        successes,
        splits,
        read_section("raw_telemetry", RawTelemetrySettings),
        settings,
    ).model_dump(include={*LEAVES})
    metrics = {name: result.model_dump() for name, result in results.items()}
    write_metrics(METRICS, {**metrics, "raw_twins": raw_twins, "leak_test": harness.model_dump()})
    columns = ("value", "ci_low", "ci_high", "n", "p", "verdict")
    print_table(
        ("control", *columns),
        [(name, *(result[column] for column in columns)) for name, result in metrics.items()],
    )
    print_table(("control", *LEAVES), [("raw_twins", *(raw_twins[name] for name in LEAVES))])


if __name__ == "__main__":
    run(main)
