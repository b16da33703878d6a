"""The report of sensitivity: choices of the main study, each made the other way."""

from __future__ import annotations

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.sensitivity.results import sensitivity_estimates
from failbench.studies.sensitivity.settings import SensitivitySettings
from failbench.studies.sensitivity.tables import sensitivity_table


def report(
    predictions: pl.DataFrame,
    main: pl.DataFrame,
    settings: SensitivitySettings,
    intervals: ScenarioIntervalSettings,
) -> StudyReport:
    """Accuracy with each choice made the other way, and the difference to the main study."""
    estimates = sensitivity_estimates(predictions, main, intervals)
    table = sensitivity_table(
        estimates, confidence=intervals.confidence, interactions=settings.interactions
    )
    columns = ("variant", "method", "metric", "value", "ci_low", "ci_high", "n")
    return StudyReport(
        metrics=nest(estimates, "variant", "method", "metric"),
        points={"sensitivity": rounded(estimates)},
        tables=(table,),
        summary=(Summary.of(estimates, *columns),),
    )
