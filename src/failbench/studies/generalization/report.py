"""The report of generalization: every method in the four studies, side by side."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.generalization.figure import generalization_picture
from failbench.studies.generalization.results import generalization_table
from failbench.studies.generalization.tables import studies_table


def report(
    predictions: pl.DataFrame, paper: Reported, settings: ScenarioIntervalSettings
) -> StudyReport:
    """Set the studies side by side, by method."""
    table = generalization_table(predictions, settings)
    points = rounded(table)
    accuracy = table.filter(pl.col("metric") == "accuracy")
    return StudyReport(
        metrics=nest(table, "study", "feature_set", "method", "metric"),
        points={"generalization": points},
        tables=(studies_table(table, confidence=settings.confidence),),
        figures={"generalization": generalization_picture(points, paper)},
        summary=(
            Summary.of(
                accuracy,
                *("study", "feature_set", "method", "value", "ci_low", "ci_high", "n", "runs"),
            ),
        ),
    )
