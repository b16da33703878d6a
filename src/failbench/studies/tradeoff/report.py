"""Report of the trade-off: accuracy against what a reader must check, as points and a figure."""

from __future__ import annotations

from failbench.reporting.cells import Measured
from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.tradeoff.figure import measured_picture, tradeoff_picture
from failbench.studies.tradeoff.results import tradeoff_points


def report(measured: Measured, paper: Reported) -> StudyReport:
    """Set every method's accuracy against the conditions that its reader must check.

    Parameters
    ----------
    measured
        Estimates by feature set, method and metric, as in ``data/metrics/intervals.json``.
    paper
        The paper's numbers.
    """
    points = rounded(tradeoff_points(measured, paper))
    return StudyReport(
        points={"tradeoff": points},
        figures={
            "tradeoff": tradeoff_picture(points),
            "tradeoff_measured": measured_picture(points),
        },
        summary=(
            Summary.of(
                points, "source", "method", "accuracy", "conditions", "score_low", "score_high"
            ),
        ),
    )
