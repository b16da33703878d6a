"""Stage diagnose_logs: how often causes are told from logs, and what other tools make of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.diagnose.model import read_model
from failbench.monitored.fitting import setting_of
from failbench.peers.answers import recorded_answers, skill_answers
from failbench.peers.verdicts import VERDICT_SCHEMA
from failbench.prediction.slices import ReferenceStudy
from failbench.stage import read_output, read_section
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from failbench.studies.diagnose_logs.report import report
from failbench.studies.diagnose_logs.schemas import ANSWER_SCHEMA, EVIDENCE_SCHEMA
from failbench.studies.diagnose_logs.settings import DiagnosedLogs
from failbench.studies.diagnose_logs.shown_example import shown_example
from failbench.study.publish import publish, run
from failbench.telemetry import read_telemetry

TELEMETRY = Path("data/telemetry")
ANSWERS = Path("data/measurements/diagnose_logs/answers.parquet")
EVIDENCE = Path("data/measurements/diagnose_logs/evidence.parquet")
MODEL = Path("src/failbench/fitted/log.json")
VERDICTS = Path("data/peers/verdicts.parquet")


def main() -> None:
    answers = read_output(ANSWERS, ANSWER_SCHEMA)
    verdicts = read_output(VERDICTS, VERDICT_SCHEMA)
    reference = setting_of(read_section("nested_cv", ReferenceStudy).model_dump())
    of_reference = answers.filter(setting=reference)["run_id"].unique(maintain_order=True)
    telemetry = read_telemetry(TELEMETRY)
    said_by_skill = skill_answers(telemetry.steps, of_reference)
    peers = pl.concat([recorded_answers(verdicts), said_by_skill]).select(
        "format", "run_id", "prediction", "detected", method="peer"
    )
    publish(
        "diagnose_logs",
        report(
            answers,
            read_output(EVIDENCE, EVIDENCE_SCHEMA),
            peers.select("method", "format", "run_id", "prediction", "detected"),
            reference,
            read_section("diagnose_logs", DiagnosedLogs),
            read_statistics(ScenarioIntervalSettings),
            shown_example(telemetry, reference, read_model(MODEL)),
        ),
    )


if __name__ == "__main__":
    run(main)
