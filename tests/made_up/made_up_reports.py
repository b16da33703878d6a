"""What two reports of a study publish, held against each other."""

from __future__ import annotations

from pathlib import Path

from failbench.reporting.markup import render
from failbench.reporting.picture import save_picture
from failbench.reporting.study_report import StudyReport


def assert_same(first: StudyReport, second: StudyReport, folder: Path) -> None:
    """Both publish the same text, points and figures; the figures are drawn into a folder."""
    assert first.metrics == second.metrics
    assert list(map(render, first.tables)) == list(map(render, second.tables))
    assert first.sentences == second.sentences
    assert first.points.keys() == second.points.keys()
    for name, points in first.points.items():
        assert points.equals(second.points[name]), name
    assert first.figures.keys() == second.figures.keys()
    for name, picture in first.figures.items():
        paths = folder / f"{name}_first.svg", folder / f"{name}_second.svg"
        for path, one in zip(paths, (picture, second.figures[name]), strict=True):
            save_picture(one, path)
        assert paths[0].read_bytes() == paths[1].read_bytes(), name
