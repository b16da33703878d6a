"""Stage crash_prediction: which crashes of notebooks are foreseen, and what the kernel adds."""

from __future__ import annotations

from pathlib import Path

from failbench.crashes.answers import read_answers
from failbench.crashes.cases import read_cases
from failbench.statistics.settings import read_with_statistics
from failbench.studies.crash_prediction.collected import collect, collected_table
from failbench.studies.crash_prediction.published import read_published
from failbench.studies.crash_prediction.report import report
from failbench.studies.crash_prediction.settings import CrashPredictionSettings
from report import publish, run

NOTEBOOKS = Path("data/notebooks")
ANSWERS = Path("data/crashes/answers.parquet")
PUBLISHED = Path("data/reported/crane_llm.csv")


def main() -> None:
    settings = read_with_statistics("crash_prediction", CrashPredictionSettings)
    published = read_published(PUBLISHED)
    recorded = read_answers(ANSWERS)
    cases = read_cases(NOTEBOOKS, settings.control_seed)
    rows = collected_table(cases, collect(cases, recorded, ANSWERS))
    publish("crash_prediction", report(rows, cases, published, (), settings))


if __name__ == "__main__":
    run(main)
