"""Stage difficulty: how hard each scenario is to tell, against what was declared."""

from __future__ import annotations

from pathlib import Path

from failbench.prediction.slices import ReferenceStudy
from failbench.stage import read_output, read_section
from failbench.statistics.settings import read_with_statistics
from failbench.studies.difficulty.measure import (
    DIFFICULTY_SCHEMA,
    SHARE_SCHEMA,
    Difficulty,
)
from failbench.studies.difficulty.report import report
from failbench.studies.difficulty.results import DifficultySettings
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run

MEASURED = Path("data/measurements/difficulty/scenarios.parquet")
SHARES = Path("data/measurements/difficulty/shares.parquet")


def main() -> None:
    difficulty = Difficulty(
        scenarios=read_output(MEASURED, DIFFICULTY_SCHEMA), shares=read_output(SHARES, SHARE_SCHEMA)
    )
    settings = read_with_statistics("difficulty", DifficultySettings)
    reference = read_section("nested_cv", ReferenceStudy)
    publish("difficulty", report(difficulty, read_reported(), settings, reference.architecture))


if __name__ == "__main__":
    run(main)
