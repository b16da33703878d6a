"""The report of risk and coverage: a curve per method, and the area under it."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported, reported_accuracies, reported_number
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.studies.risk_coverage.figure import ReportedPoint, risk_coverage_picture
from failbench.studies.risk_coverage.results import RiskCoverageSettings, risk_coverage


def report(
    predictions: pl.DataFrame, paper: Reported, settings: RiskCoverageSettings, workers: int = 1
) -> StudyReport:
    """Say how wrong each method is on the runs that it is most confident of."""
    results = risk_coverage(predictions, settings, workers)
    curves = rounded(results.curves)
    return StudyReport(
        metrics=nest(results.areas, "feature_set", "method", "metric"),
        points={"risk_coverage": curves},
        figures={"risk_coverage": risk_coverage_picture(curves, reported_points(paper))},
        summary=(
            Summary.of(results.areas, "feature_set", "method", "value", "ci_low", "ci_high", "n"),
        ),
    )


def reported_points(paper: Reported) -> dict[str, tuple[ReportedPoint, ...]]:
    """Where the paper's figures lie: methods answer all, improved rules what they commit to too."""
    points = {
        method: (ReportedPoint(1.0, 1.0 - accuracy),)
        for method, accuracy in reported_accuracies(paper).items()
    }
    committed = ReportedPoint(
        1.0 - reported_number(paper, "improved_rules_abstention"),
        1.0 - reported_number(paper, "improved_rules_committed_accuracy"),
    )
    return points | {"improved_rules": (committed, *points["improved_rules"])}
