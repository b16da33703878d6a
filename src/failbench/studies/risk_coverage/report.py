"""The report of risk and coverage: a curve per method, and the area under it."""

from __future__ import annotations

from functools import partial

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.studies.risk_coverage.figure import draw_risk_coverage
from failbench.studies.risk_coverage.results import RiskCoverageSettings, risk_coverage


def report(
    predictions: pl.DataFrame, settings: RiskCoverageSettings, workers: int = 1
) -> StudyReport:
    """Say how wrong each method is on the runs that it is most confident of.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one study.
    settings
        The section ``risk_coverage`` of params.yaml.
    workers
        The result does not depend on it.

    Raises
    ------
    BadInputError
        If no method gives a confidence, or a method has no label.
    """
    results = risk_coverage(predictions, settings, workers)
    curves = rounded(results.curves)
    return StudyReport(
        metrics=nest(results.areas, "feature_set", "method", "metric"),
        points={"risk_coverage": curves},
        figures={"risk_coverage": partial(draw_risk_coverage, curves)},
        summary=(
            Summary.of(results.areas, "feature_set", "method", "value", "ci_low", "ci_high", "n"),
        ),
    )
