"""The report of generalization: every method in the four studies, side by side."""

from __future__ import annotations

from functools import partial

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.generalization.figure import draw_generalization
from failbench.studies.generalization.results import generalization_table
from failbench.studies.generalization.tables import studies_table


def report(predictions: pl.DataFrame, settings: ScenarioIntervalSettings) -> StudyReport:
    """Set the studies side by side, by method.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of the four studies.
    settings
        Of the section ``statistics`` of params.yaml.

    Raises
    ------
    BadInputError
        If there is no prediction of one of the studies, or a method has no label.
    """
    table = generalization_table(predictions, settings)
    points = rounded(table)
    accuracy = table.filter(pl.col("metric") == "accuracy")
    return StudyReport(
        metrics=nest(table, "study", "feature_set", "method", "metric"),
        points={"generalization": points},
        tables=(studies_table(table, confidence=settings.confidence),),
        figures={"generalization": partial(draw_generalization, points)},
        summary=(
            Summary.of(
                accuracy,
                *("study", "feature_set", "method", "value", "ci_low", "ci_high", "n", "runs"),
            ),
        ),
    )
