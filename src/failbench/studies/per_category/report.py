"""The report per category: precision, recall and F1 of every method, and what it mixes up."""

from __future__ import annotations

import polars as pl

from failbench.reporting.cells import Measured
from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.per_category.figure import confusions_picture
from failbench.studies.per_category.results import confusion_table, precision_table
from failbench.studies.per_category.tables import confusion_of_rules, scores_by_category


def report(
    predictions: pl.DataFrame,
    measured: Measured,
    paper: Reported,
    settings: ScenarioIntervalSettings,
    workers: int = 1,
) -> StudyReport:
    """Score every method by category, and count what it takes each category for."""
    estimates = precision_table(predictions, settings, workers)
    precisions = nest(estimates, "feature_set", "method", "metric")
    confusions = rounded(confusion_table(predictions))
    return StudyReport(
        metrics=precisions,
        points={"per_category": confusions},
        tables=(
            scores_by_category(measured, precisions, paper, settings),
            confusion_of_rules(confusions, measured, paper, confidence=settings.confidence),
        ),
        figures={"per_category": confusions_picture(confusions, paper)},
        summary=(
            Summary.of(
                estimates, "feature_set", "method", "metric", "value", "ci_low", "ci_high", "n"
            ),
        ),
    )
