"""Two reports of a study held against each other."""

from __future__ import annotations

from failbench.reporting.markup import render
from failbench.reporting.study_report import StudyReport


def assert_equal_reports(left: StudyReport, right: StudyReport) -> None:
    """Every number and every text is the same; of figures the names are compared."""
    assert left.metrics == right.metrics
    assert left.points.keys() == right.points.keys()
    for name, points in left.points.items():
        assert points.equals(right.points[name]), name
    assert [render(table) for table in left.tables] == [render(table) for table in right.tables]
    assert left.sentences == right.sentences
    assert left.figures.keys() == right.figures.keys()
    assert left.summary == right.summary
