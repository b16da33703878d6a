"""Report of the ablation: what is left of each method with some groups of signals only."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.ablation.figure import ablation_picture
from failbench.studies.ablation.interactions_table import interactions_table, reported_surplus
from failbench.studies.ablation.results import (
    AblationSettings,
    ablation_metrics,
    ablation_points,
    ablation_results,
)
from failbench.studies.ablation.tables import ablation_tables


def report(
    predictions: pl.DataFrame,
    importance: pl.DataFrame,
    paper: Reported,
    settings: AblationSettings,
    workers: int = 1,
) -> StudyReport:
    """Rates with each subset of the signals, what is lost against all, and interactions."""
    results = ablation_results(predictions, settings, workers)
    points = ablation_points(results)
    surplus = reported_surplus(paper, settings.confidence)
    interactions = [*surplus, *(row for variant in results for row in variant.interactions)]
    return StudyReport(
        metrics=ablation_metrics(results, surplus, 1 - settings.confidence),
        points={"ablation": rounded(points)},
        tables=(
            *ablation_tables(points, importance, paper, settings),
            interactions_table(
                interactions, settings.superadditive, confidence=settings.confidence
            ),
        ),
        figures={"ablation": ablation_picture(points, paper)},
        summary=(
            Summary.of(
                points.filter(pl.col("metric") == "accuracy"),
                *("feature_set", "method", "subset", "value", "ci_low", "ci_high", "p_holm", "n"),
            ),
        ),
    )
