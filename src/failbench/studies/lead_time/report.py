"""The report of lead time: accuracy before the failure, and diagnoses after an alarm."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from failbench.reporting.reported import Reported, reported_number
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.lead_time.figure import ReportedLeadTime, lead_time_picture
from failbench.studies.lead_time.measurements import Measurements
from failbench.studies.lead_time.results import (
    lead_time_metrics,
    lead_time_results,
    main_study_rows,
)
from failbench.studies.lead_time.settings import LeadTimeSettings
from failbench.studies.lead_time.tables import lead_time_table

LAST_SNAPSHOT = 100
"""Steps before failure of the one snapshot whose accuracy the paper gives as a number."""

FLOORED_SNAPSHOTS = (10, 50)
"""Steps before failure of the snapshots of which the paper says what their accuracy is above."""

SUMMARISED = (0, 10, 50, LAST_SNAPSHOT)
"""Steps before failure that the summary shows."""


def report(
    measured: Measurements,
    main: pl.DataFrame,
    paper: Reported,
    settings: LeadTimeSettings,
    intervals: ScenarioIntervalSettings,
    workers: int = 1,
) -> StudyReport:
    """Estimate and show how early the cause of a failure is told."""
    results = lead_time_results(measured, settings, intervals, workers)
    beside = main_study_rows(main, measured.predictions, intervals)
    results = replace(results, rates=pl.concat([results.rates, beside]))
    points = rounded(results.rates)
    table = lead_time_table(
        points,
        paper,
        calibration_runs=results.calibration_runs,
        limits=results.limits,
        repeats=(main["repeat"].n_unique(), measured.predictions["repeat"].n_unique()),
        false_alarms=settings.false_alarms,
        confidence=intervals.confidence,
    )
    reported = ReportedLeadTime(
        accuracies={
            0: reported_number(paper, "improved_rules_accuracy"),
            LAST_SNAPSHOT: reported_number(paper, "lead_time_100"),
        },
        floor=reported_number(paper, "lead_time_floor"),
        floored=FLOORED_SNAPSHOTS,
    )
    summarised = points.filter(pl.col("steps").is_in(SUMMARISED))
    return StudyReport(
        metrics=lead_time_metrics(results),
        points={"lead_time": points},
        tables=(table,),
        figures={"lead_time": lead_time_picture(points, reported)},
        summary=(
            Summary.of(summarised, "method", "steps", "metric", "value", "ci_low", "ci_high", "n"),
        ),
    )
