"""Report of the trade-off: accuracy against what a reader must check, and what that is."""

from __future__ import annotations

from failbench.reporting.cells import Measured
from failbench.reporting.reported import Reported
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.studies.tradeoff.figure import tradeoff_picture
from failbench.studies.tradeoff.results import tradeoff_points
from failbench.studies.tradeoff.tables import tradeoff_table


def report(measured: Measured, paper: Reported) -> StudyReport:
    """Set every method's accuracy against the conditions that its reader must check."""
    points = rounded(tradeoff_points(measured, paper))
    return StudyReport(
        points={"tradeoff": points},
        tables=(tradeoff_table(points),),
        figures={"tradeoff": tradeoff_picture(points)},
        summary=(
            Summary.of(
                points, "source", "method", "accuracy", "conditions", "score_low", "score_high"
            ),
        ),
    )
