"""Stage case_studies: two failing runs picked by rule, their diagnoses, and their remedies."""

from __future__ import annotations

from pathlib import Path

from failbench.predictions import PREDICTION_SCHEMA
from failbench.stage import read_output, read_outputs, read_section
from failbench.studies.case_studies.cases import CANDIDATE_SCHEMA, CaseStudiesSettings
from failbench.studies.case_studies.evidence import DIAGNOSIS_SCHEMA, EVIDENCE_SCHEMA
from failbench.studies.case_studies.facts import FACT_SCHEMA
from failbench.studies.case_studies.measure import CaseMeasurements
from failbench.studies.case_studies.report import report
from failbench.study.inputs import read_reported
from failbench.study.publish import publish, run
from failbench.telemetry import read_telemetry

MEASURED = Path("data/measurements/case_studies")
PREDICTIONS = Path("data/predictions/nested_cv")
TELEMETRY = Path("data/telemetry")


def main() -> None:
    measured = CaseMeasurements(
        cases=read_output(MEASURED / "cases.parquet", CANDIDATE_SCHEMA),
        facts=read_output(MEASURED / "facts.parquet", FACT_SCHEMA),
        diagnoses=read_output(MEASURED / "diagnoses.parquet", DIAGNOSIS_SCHEMA),
        evidence=read_output(MEASURED / "evidence.parquet", EVIDENCE_SCHEMA),
    )
    asked = measured.diagnoses["method"].unique()
    settings = read_section("case_studies", CaseStudiesSettings)
    predictions = read_outputs(PREDICTIONS, asked, PREDICTION_SCHEMA)
    telemetry = read_telemetry(TELEMETRY)
    publish("case_studies", report(measured, predictions, telemetry, read_reported(), settings))


if __name__ == "__main__":
    run(main)
