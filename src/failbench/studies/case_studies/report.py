"""The report of the case studies: two runs, what was said of them, and what helped."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.run_curves import run_curves
from failbench.reporting.study_report import StudyReport, Summary
from failbench.studies.case_studies.cases import CaseStudiesSettings
from failbench.studies.case_studies.diagnoses_table import diagnoses_table
from failbench.studies.case_studies.figure import case_studies_picture
from failbench.studies.case_studies.measure import CaseMeasurements
from failbench.studies.case_studies.results import CaseAnswer, case_metrics, case_studies
from failbench.studies.case_studies.tables import case_table
from failbench.telemetry import Telemetry


def report(
    measured: CaseMeasurements,
    predictions: pl.DataFrame,
    telemetry: Telemetry,
    paper: Reported,
    settings: CaseStudiesSettings,
) -> StudyReport:
    """Show the two cases beside the paper's, and the diagnoses of every method that was asked."""
    studies = case_studies(measured, predictions)
    curves = {case.name: run_curves(telemetry, case.run_id) for case in studies.cases}
    points = pl.concat(
        part.select(pl.lit(name).alias("case"), pl.all()) for name, part in curves.items()
    )
    return StudyReport(
        metrics=case_metrics(studies),
        points={"case_studies": points},
        tables=(
            *(case_table(studies, case, paper, settings) for case in studies.cases),
            diagnoses_table(studies),
        ),
        figures={
            "case_studies": case_studies_picture(studies.cases, curves, settings.settled_steps)
        },
        summary=(_summary(studies.answers),),
    )


def _summary(answers: tuple[CaseAnswer, ...]) -> Summary:
    return Summary(
        ("case", "method", "answer", "confidence", "right"),
        [
            (
                answer.case.name,
                answer.method,
                answer.diagnosis.category,
                answer.diagnosis.confidence,
                answer.right,
            )
            for answer in answers
        ],
    )
