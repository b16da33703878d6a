"""The three drawings are fit to print, and say what is declared and recorded."""

from __future__ import annotations

import pytest
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from failbench.reporting.style import LEAST_TEXT
from failbench.studies.benchmark.canvas import lines_of, width_of
from failbench.studies.benchmark.declarations import workflow
from failbench.studies.benchmark.report import workflow_counts
from failbench.studies.benchmark.workflow_figure import (
    workflow_picture,
)
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


def written(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_the_workflow_is_printable_and_its_boxes_hold_their_texts_and_keep_apart(tmp_path):
    picture = workflow_picture(workflow_counts(76))
    figure = assert_printable(picture)
    axes = figure.axes[0]
    boxes = [
        patch.get_window_extent() for patch in axes.patches if isinstance(patch, FancyBboxPatch)
    ]
    assert len(boxes) == len(workflow().boxes)
    for text in axes.texts:
        extent = text.get_window_extent()
        holding = [
            box
            for box in boxes
            if box.x0 <= extent.x0
            and extent.x1 <= box.x1
            and box.y0 <= extent.y0
            and extent.y1 <= box.y1
        ]
        assert len(holding) == 1, text
    for number, box in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert not box.overlaps(other)
    assert "one of 76 root causes" in " ".join(written(figure))
    assert_repeats(picture, tmp_path)


def test_a_number_that_the_workflow_lacks_is_named():
    with pytest.raises(KeyError, match="scenarios"):
        workflow_picture({})


def test_lines_are_no_wider_than_asked_and_lose_no_word():
    text = "one of many root causes, injected into a training run at its onset"
    lines = lines_of(text, 60.0)
    assert len(lines) > 2
    assert all(width_of(line) <= 60.0 for line in lines)
    assert " ".join(lines) == text
    assert lines_of("incomprehensibilities all", 5 * LEAST_TEXT) == ("incomprehensibilities", "all")
