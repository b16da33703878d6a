"""The report of the crosswalk: printed accuracies of two methods, side by side."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary
from failbench.studies.crosswalk.results import printed_accuracies
from failbench.studies.crosswalk.tables import crosswalk_table


def report(
    points: Mapping[str, pl.DataFrame], predictions: Mapping[tuple[str, str], pl.DataFrame]
) -> StudyReport:
    """Set every printed accuracy beside the others, with folds, repeats, seeds and search."""
    accuracies = printed_accuracies(points, predictions)
    rows = [
        (row.method, row.condition.study, row.condition.features, row.repeats, row.seeds, row.value)
        for row in accuracies
    ]
    return StudyReport(
        tables=(crosswalk_table(accuracies),),
        summary=(Summary(("method", "study", "features", "repeats", "seeds", "accuracy"), rows),),
    )
