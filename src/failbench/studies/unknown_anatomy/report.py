"""The report on unknown scenarios: what is answered to them, and what would settle them."""

from __future__ import annotations

import polars as pl

from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.scenarios import Scenario
from failbench.studies.unknown_anatomy.figure import unknown_anatomy_picture
from failbench.studies.unknown_anatomy.measurements import Measurements
from failbench.studies.unknown_anatomy.results import (
    UnknownAnatomy,
    UnknownAnatomySettings,
    anatomy_metrics,
    anatomy_points,
    unknown_anatomy,
)
from failbench.studies.unknown_anatomy.tables import anatomy_tables


def report(
    predictions: pl.DataFrame,
    measured: Measurements,
    scenarios: tuple[Scenario, ...],
    paper: Reported,
    settings: UnknownAnatomySettings,
) -> StudyReport:
    """Take the unknown scenarios apart and show what is known of each."""
    results = unknown_anatomy(predictions, measured, scenarios, settings)
    points = rounded(anatomy_points(results))
    return StudyReport(
        metrics=anatomy_metrics(results),
        points={"unknown_anatomy": points, "unknown_answers": rounded(results.answers)},
        tables=anatomy_tables(results, settings, paper),
        figures={"unknown_anatomy": unknown_anatomy_picture(points)},
        summary=(_summary(results),),
    )


def _summary(results: UnknownAnatomy) -> Summary:
    rows = [
        (name, recall.value, recall.ci_low, recall.ci_high, rates["accuracy"].value)
        for name, rates in results.rates.items()
        for recall in (rates["recall_unknown"],)
    ]
    return Summary(("features", "recall of unknown", "ci_low", "ci_high", "accuracy"), rows)
