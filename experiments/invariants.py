"""Stage invariants: what broke in monitored runs, and what each frozen version makes of it."""

from pathlib import Path

import polars as pl

from failbench.base.stage import print_table, read_output, read_points, read_section, run, workers
from failbench.base.telemetry import RUN_SCHEMA, write_parquet
from failbench.base.workers import parallel_map
from failbench.monitor.records.scoring import HALF_SCHEMA, ScoringParams
from failbench.monitor.records.tables import Monitored, measured_settings, together
from failbench.monitor.records.verdicts import (
    OWN,
    break_table,
    ends_of,
    of_bounded_settings,
    of_halves,
    verdict_table,
)
from failbench.monitor.records.versions import Rules, read_rules

MONITORED = Path("data/monitor")
HALVES = Path("data/monitor/halves.csv")
TELEMETRY = Path("data/telemetry/runs.parquet")
MEASURED = Path("data/measurements/invariants")


def judged(
    rules: Rules, runs: Monitored, ends: pl.DataFrame, settings: ScoringParams
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What broke in some runs and what a version makes of it."""
    ahead = sorted({0, *settings.steps_ahead})
    breaks = break_table(runs, rules, settings.lenders)
    ends_here = ends.join(runs.runs, on="run_id", how="semi")
    verdicts = verdict_table(breaks, ends_here, rules, (None, *ahead), (OWN, *settings.lenders))
    version = pl.lit(rules.version).alias("version")
    return breaks.select(version, pl.all()), verdicts.select(version, pl.all())


def main() -> None:
    settings = read_section("monitor", ScoringParams)
    halves = read_points(HALVES, HALF_SCHEMA)
    versions = [read_rules(MONITORED, version) for version in settings.versions]
    detected = read_output(TELEMETRY, RUN_SCHEMA)
    by_setting = [
        of_halves(runs, halves, settings.halves) for runs in measured_settings(MONITORED).values()
    ]
    monitored = together(by_setting)
    ends = ends_of(monitored.runs, detected)
    tasks = [
        (rules, runs if rules is versions[-1] else of_bounded_settings(runs, rules), ends, settings)
        for rules in versions
        for runs in by_setting
    ]
    parts = zip(*parallel_map(judged, tasks, workers()), strict=True)
    order = [rules.version for rules in versions]
    breaks, verdicts = (
        pl.concat(part).sort(pl.col("version").cast(pl.Enum(order)), "run_id", maintain_order=True)
        for part in parts
    )
    write_parquet(breaks, MEASURED / "breaks.parquet")
    write_parquet(verdicts, MEASURED / "verdicts.parquet")
    write_parquet(ends, MEASURED / "ends.parquet")
    answers = (
        verdicts.filter(pl.col("steps_ahead").is_null())
        .join(monitored.runs.select("run_id", "kind"), on="run_id")
        .group_by("version", "bounds", "kind", "answer")
        .len()
        .sort("version", "bounds", "kind", "answer")
    )
    print_table(answers.columns, answers.rows())


if __name__ == "__main__":
    run(main)
