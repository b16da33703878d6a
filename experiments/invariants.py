"""Stage invariants: what broke in monitored runs, and what each frozen version makes of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base.stage import print_table, read_output, read_points, read_section, run
from failbench.base.telemetry import RUN_SCHEMA, write_parquet
from failbench.monitor.records.fitting import measured_settings
from failbench.monitor.records.scoring import HALF_SCHEMA, ScoringParams
from failbench.monitor.records.tables import together
from failbench.monitor.records.verdicts import (
    OWN,
    break_table,
    ends_of,
    of_bounded_settings,
    of_halves,
    verdict_table,
)
from failbench.monitor.records.versions import read_rules

MONITORED = Path("data/monitor")
RUNS = Path("data/monitor/runs.parquet")
SIGNALS = Path("data/monitor/signals")
FROZEN = Path("data/monitor/frozen.json")
VERSIONS = Path("data/monitor/versions")
HALVES = Path("data/monitor/halves.csv")
TELEMETRY = Path("data/telemetry/runs.parquet")
MEASURED = Path("data/measurements/invariants")


def main() -> None:
    settings = read_section("monitor", ScoringParams)
    halves = read_points(HALVES, HALF_SCHEMA)
    versions = [read_rules(MONITORED, version) for version in settings.versions]
    detected = read_output(TELEMETRY, RUN_SCHEMA)
    monitored = together(
        of_halves(runs, halves, settings.halves) for runs in measured_settings(MONITORED).values()
    )
    ends = ends_of(monitored.runs, detected)
    broken, judged = [], []
    ahead = sorted({0, *settings.steps_ahead})
    for rules in versions:
        judges_all = rules is versions[-1]
        here = monitored if judges_all else of_bounded_settings(monitored, rules)
        breaks = break_table(here, rules, settings.lenders)
        ends_here = ends.join(here.runs, on="run_id", how="semi")
        verdicts = verdict_table(breaks, ends_here, rules, (None, *ahead), (OWN, *settings.lenders))
        broken.append(breaks.select(pl.lit(rules.version).alias("version"), pl.all()))
        judged.append(verdicts.select(pl.lit(rules.version).alias("version"), pl.all()))
    write_parquet(pl.concat(broken), MEASURED / "breaks.parquet")
    write_parquet(pl.concat(judged), MEASURED / "verdicts.parquet")
    write_parquet(ends, MEASURED / "ends.parquet")
    answers = (
        pl.concat(judged)
        .filter(pl.col("steps_ahead").is_null())
        .join(monitored.runs.select("run_id", "kind"), on="run_id")
        .group_by("version", "bounds", "kind", "answer")
        .len()
        .sort("version", "bounds", "kind", "answer")
    )
    print_table(answers.columns, answers.rows())


if __name__ == "__main__":
    run(main)
