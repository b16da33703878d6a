"""Stage known: what the last frozen version of the monitor's rules knew of runs, and when."""

from pathlib import Path

import polars as pl

from failbench.base.stage import print_table, read_output, read_section, run
from failbench.base.telemetry import write_parquet
from failbench.monitor.records.scoring import ScoringParams, versioned
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, known_course
from failbench.monitor.records.versions import read_rules

MONITORED = Path("data/monitor")
BREAKS = Path("data/measurements/invariants/breaks.parquet")
ENDS = Path("data/measurements/invariants/ends.parquet")
KNOWN = Path("data/features/known.parquet")


def main() -> None:
    judged = read_section("monitor", ScoringParams)
    rules = read_rules(MONITORED, judged.versions[-1])
    breaks = read_output(BREAKS, versioned(BREAK_SCHEMA))
    course = known_course(
        breaks.filter(pl.col("version") == rules.version).drop("version"),
        read_output(ENDS, END_SCHEMA),
        rules,
        judged.lenders,
    )
    write_parquet(course, KNOWN)
    counts = course.group_by("bounds").agg(pl.col("run_id").n_unique()).sort("bounds")
    print_table(("bounds", "runs"), counts.rows())


if __name__ == "__main__":
    run(main)
