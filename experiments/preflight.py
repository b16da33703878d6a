"""Stage preflight: which crashes are foreseen before a step, in the runs of the benchmark."""

from __future__ import annotations

from pathlib import Path

from failbench.params import read_section
from failbench.prediction.slices import ReferenceStudy
from failbench.preflighted.answers import read_answers
from failbench.statistics.settings import read_with_statistics
from failbench.studies.preflight.report import report
from failbench.studies.preflight.results import PreflightSettings
from failbench.study.publish import publish, run
from recordings import read_recordings

ANSWERS = Path("data/preflight/answers.parquet")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")


def main() -> None:
    settings = read_with_statistics("preflight", PreflightSettings)
    reference = read_section("nested_cv", ReferenceStudy)
    answers = read_answers(ANSWERS)
    recorded, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    publish("preflight", report(answers, recorded, scenarios, reference, settings))


if __name__ == "__main__":
    run(main)
