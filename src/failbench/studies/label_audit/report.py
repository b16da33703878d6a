"""The report of the label audit: whether who is told the causes gives the labels that they have."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.label_audit.figure import label_audit_picture
from failbench.studies.label_audit.results import ALL, audit_labels
from failbench.studies.label_audit.tables import REPORTED_KAPPA, label_audit_tables


def report(
    ratings: pl.DataFrame, paper: Reported, settings: ScenarioIntervalSettings
) -> StudyReport:
    """Agreement of raters with the labels and with each other, and what they contest."""
    audit = audit_labels(ratings, settings)
    metrics = nest(audit.table, "subject", "scope", "metric")
    for subject, value in audit.fleiss.items():
        metrics[subject][ALL]["fleiss_kappa"] = {"value": value, "n": ratings.height}
    points = rounded(audit.table)
    reported = reported_number(paper, REPORTED_KAPPA)
    overall = audit.table.filter(scope=ALL)
    return StudyReport(
        metrics=metrics,
        points={"label_audit": points},
        tables=label_audit_tables(audit, paper, settings),
        figures={"label_audit": label_audit_picture(points, reported)},
        summary=(Summary.of(overall, "subject", "metric", "value", "ci_low", "ci_high", "n"),),
    )
