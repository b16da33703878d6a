"""The report of agreement: metrics, points, a table and a figure."""

from __future__ import annotations

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.studies.agreement.figure import agreement_picture
from failbench.studies.agreement.results import AgreementSettings, agreement
from failbench.studies.agreement.tables import agreement_table


def report(predictions: pl.DataFrame, settings: AgreementSettings) -> StudyReport:
    """Say how often every two methods give the same answer.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one study.
    settings
        The section ``agreement`` of params.yaml.

    Raises
    ------
    BadInputError
        If a method has no label.
    """
    points = rounded(agreement(predictions, settings))
    return StudyReport(
        metrics=nest(points, "left", "right", leaves=("value", "n")),
        points={"agreement": points},
        tables=(agreement_table(points),),
        figures={"agreement": agreement_picture(points)},
        summary=(Summary.of(points, "left", "right", "value", "n"),),
    )
