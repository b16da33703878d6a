"""The report of the study of DEFault's runs."""

from __future__ import annotations

import polars as pl

from failbench.external.tables import DETECTION, ReleasedTables, crashed
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.external_default.figure import external_default_picture
from failbench.studies.external_default.finding import finding
from failbench.studies.external_default.results import ACCURACY, estimates, metrics
from failbench.studies.external_default.settings import CATEGORY, ExternalDefaultSettings
from failbench.studies.external_default.tables import Shown, external_default_tables


def report(
    answers: pl.DataFrame,
    groups: pl.DataFrame,
    released: ReleasedTables,
    settings: ExternalDefaultSettings,
) -> StudyReport:
    """Say what DEFault's published accuracy rests on, and what ours reach beside it."""
    table = rounded(estimates(answers, groups, released, settings))
    printed = {task: released.printed_figure(task) for task in (DETECTION, CATEGORY)}
    columns = ("task", "protocol", "columns", "method", "value", "ci_low", "ci_high", "n")
    shown = Shown(table, settings, released)
    return StudyReport(
        metrics=metrics(table),
        points={"external_default": table},
        tables=external_default_tables(shown, int(crashed(released.detection).sum())),
        figures={"external_default": external_default_picture(table, printed, settings)},
        summary=(Summary.of(table.filter(metric=ACCURACY), *columns),),
        sentences={"finding": finding(table, released, settings)},
    )
