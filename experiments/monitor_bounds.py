"""Stage monitor_bounds: the monitor's bounds of each setting, from its healthy runs alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.monitor.bounds import write_bounds
from failbench.monitored.fitting import measured_settings
from failbench.stage import read_points
from failbench.statistics.settings import read_with_statistics
from failbench.studies.monitor.halves import HALF_SCHEMA
from failbench.studies.monitor.margins import MarginSettings, margins_report, setting_bounds
from failbench.study.publish import publish, run

MONITORED = Path("data/monitor")
RUNS = Path("data/monitor/runs.parquet")
HALVES = Path("data/monitor/halves.csv")
SIGNALS = Path("data/monitor/signals")
BOUNDS = Path("data/monitor/bounds")


def main() -> None:
    choice = read_with_statistics("monitor_bounds", MarginSettings)
    halves = read_points(HALVES, HALF_SCHEMA)
    development = halves.filter(pl.col("half") == "development")["scenario"].to_list()
    settings = {
        name: setting_bounds(name, runs, choice, development)
        for name, runs in measured_settings(MONITORED).items()
    }
    BOUNDS.mkdir(parents=True, exist_ok=True)
    for name, fitted in settings.items():
        origin = f"completed successes of {name}, margins {fitted.margins}"
        write_bounds(BOUNDS / f"{name}.json", fitted.bounds, fitted.runs, origin)
    publish("monitor_bounds", margins_report(settings, choice))


if __name__ == "__main__":
    run(main)
