"""The report of abstention: its reasons, what other thresholds are worth, and who else may."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.abstention.figure import abstention_picture
from failbench.studies.abstention.methods_table import methods_table
from failbench.studies.abstention.results import abstention_estimates
from failbench.studies.abstention.settings import AbstentionSettings
from failbench.studies.abstention.tables import reasons_table, thresholds_table


def report(
    predictions: pl.DataFrame,
    inner: pl.DataFrame,
    monitored: pl.DataFrame,
    paper: Reported,
    settings: AbstentionSettings,
    intervals: ScenarioIntervalSettings,
    *,
    tau: float,
) -> StudyReport:
    """Why the improved rules abstain, beside the original's reasons, and a sweep of tau."""
    estimates = abstention_estimates(predictions, inner, monitored, settings, intervals)
    points = rounded(estimates)
    target, confidence = settings.precision, intervals.confidence
    return StudyReport(
        metrics=nest(estimates, "part", "key", "metric"),
        points={"abstention": points},
        tables=(
            reasons_table(points, paper, intervals),
            thresholds_table(points, paper, tau=tau, target=target, confidence=confidence),
            methods_table(points, intervals),
        ),
        figures={"abstention": abstention_picture(points, paper, tau=tau, target=target)},
        summary=(Summary.of(points, "part", "key", "metric", "value", "ci_low", "ci_high", "n"),),
    )
