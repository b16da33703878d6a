"""Stage reasoning_lenses: what four lenses on traces of reasoning tell of how models were made."""

from __future__ import annotations

from pathlib import Path

from failbench.reasoning.traces import read_traces
from failbench.statistics.settings import read_with_statistics
from failbench.studies.reasoning_lenses.expected import read_expected
from failbench.studies.reasoning_lenses.report import report
from failbench.studies.reasoning_lenses.settings import ReasoningLensesSettings
from failbench.study.publish import publish, run

TRACES = Path("data/reasoning/traces.parquet")
EXPECTED = Path("data/reasoning/expected_verdicts.csv")


def main() -> None:
    settings = read_with_statistics("reasoning_lenses", ReasoningLensesSettings)
    publish("reasoning_lenses", report(read_traces(TRACES), read_expected(EXPECTED), settings))


if __name__ == "__main__":
    run(main)
