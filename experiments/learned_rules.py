"""Stage learned_rules: the learned rules as a list to read, and what they ask first."""

from __future__ import annotations

from pathlib import Path

from failbench.stage import read_output
from failbench.studies.learned_rules.measure import RULE_SCHEMA, TOP_SCHEMA
from failbench.studies.learned_rules.report import report
from failbench.study.publish import publish, run

MEASUREMENTS = Path("data/measurements/learned_rules")


def main() -> None:
    rules = read_output(MEASUREMENTS / "rules.parquet", RULE_SCHEMA)
    tops = read_output(MEASUREMENTS / "tops.parquet", TOP_SCHEMA)
    publish("learned_rules", report(rules, tops))


if __name__ == "__main__":
    run(main)
