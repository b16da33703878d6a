"""Stage controls: what must not tell the label is shown not to, and a planted leak is found."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.evaluation.control_tables import control_tables
from failbench.evaluation.controls import ControlSettings, run_controls
from failbench.evaluation.leak_test import leak_test
from failbench.scenarios import read_scenarios
from failbench.telemetry import read_telemetry
from stage import print_table, read_output, read_section, run, workers, write_metrics

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
METRICS = Path("data/metrics/controls.json")


def main() -> None:
    settings = read_section("controls", ControlSettings)
    tables = control_tables(
        read_telemetry(TELEMETRY),
        read_scenarios(SCENARIOS),
        settings.architecture,
        settings.optimizer,
        settings.scale,
    )
    results = run_controls(tables, settings, workers())
    features = read_output(FEATURES).filter(
        pl.col("architecture") == settings.architecture,
        pl.col("optimizer") == settings.optimizer,
        pl.col("scale") == settings.scale,
    )
    harness = leak_test(
        features.filter(pl.col("kind") == "failure"),
        features.filter(pl.col("kind") == "success"),
        read_output(SPLITS).filter(pl.col("repeat") == 0),
        settings.seed,
    )
    metrics = {name: result.model_dump() for name, result in results.items()}
    write_metrics(METRICS, {**metrics, "leak_test": harness.model_dump()})
    columns = ("value", "ci_low", "ci_high", "n", "p", "verdict")
    print_table(
        ("control", *columns),
        [(name, *(result[column] for column in columns)) for name, result in metrics.items()],
    )


if __name__ == "__main__":
    run(main)
