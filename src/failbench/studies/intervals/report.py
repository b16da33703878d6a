"""The report of intervals: every rate of every method with its interval, and the tables of them."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.costs import UnitCosts
from failbench.statistics.estimates import nest
from failbench.statistics.method_intervals import IntervalSettings, intervals_table
from failbench.studies.intervals.finding import finding
from failbench.studies.intervals.tables import Design, headline_table, methods_table, scores_table


def report(
    predictions: pl.DataFrame,
    recorded: pl.DataFrame,
    paper: Reported,
    settings: IntervalSettings,
    costs: UnitCosts,
    workers: int = 1,
) -> StudyReport:
    """Estimate every metric of every method on every feature set."""
    table = intervals_table(predictions, settings, workers, costs)
    measured = nest(table, "feature_set", "method", "metric")
    design = Design.of(predictions, recorded)
    accuracies = table.filter(pl.col("metric") == "accuracy")
    return StudyReport(
        metrics=measured,
        points={"intervals": rounded(table)},
        tables=(
            headline_table(measured, paper, design, confidence=settings.confidence),
            methods_table(measured, paper, design, confidence=settings.confidence),
            scores_table(measured, design, confidence=settings.confidence),
        ),
        sentences={"finding": finding(measured, paper, confidence=settings.confidence)},
        summary=(
            Summary.of(accuracies, "feature_set", "method", "value", "ci_low", "ci_high", "n"),
        ),
    )
