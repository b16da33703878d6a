"""Stage tradeoff: accuracy against what a reader must check, beside what the original reports."""

from __future__ import annotations

from pathlib import Path

from failbench.features.catalogue import PRIMARY_SET
from failbench.studies.tradeoff.report import report
from failbench.study.inputs import read_metrics, read_reported
from failbench.study.publish import publish, run

METRICS = Path("data/metrics/intervals.json")


def main() -> None:
    publish("tradeoff", report(read_metrics(METRICS, PRIMARY_SET), read_reported()))


if __name__ == "__main__":
    run(main)
