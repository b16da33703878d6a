"""The report of portability: accuracy by condition, and the contrasts between conditions."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.significance import ComparisonSettings
from failbench.studies.portability.figure import portability_picture
from failbench.studies.portability.results import portability_metrics, portability_results
from failbench.studies.portability.settings import PortabilitySettings
from failbench.studies.portability.tables import portability_contrasts_table, portability_table


def report(
    predictions: pl.DataFrame,
    paper: Reported,
    settings: PortabilitySettings,
    intervals: ScenarioIntervalSettings,
    tests: ComparisonSettings,
    workers: int = 1,
) -> StudyReport:
    """Estimate, compare and show what methods of one optimizer are worth under another."""
    results = portability_results(predictions, settings.contrasts, intervals, tests, workers)
    points = rounded(results.rates)
    accuracies = points.filter(pl.col("metric") == "accuracy")
    reported = reported_number(paper, "sgd_accuracy")
    return StudyReport(
        metrics=portability_metrics(results),
        points={"portability": points},
        tables=(
            portability_table(points, paper, settings, intervals.confidence),
            portability_contrasts_table(results.contrasts, settings, tests),
        ),
        figures={
            "portability": portability_picture(
                points, reported, home=settings.home, away=settings.away
            )
        },
        summary=(
            Summary.of(
                accuracies,
                *("method", "condition", "metric", "value", "ci_low", "ci_high", "n", "runs"),
            ),
        ),
    )
