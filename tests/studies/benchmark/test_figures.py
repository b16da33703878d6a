"""The three drawings are fit to print, and say what is declared and recorded."""

from __future__ import annotations

import polars as pl
import pytest
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from failbench.reporting.style import LEAST_TEXT
from failbench.scenarios import Scenario
from failbench.studies.benchmark.canvas import lines_of, width_of
from failbench.studies.benchmark.chosen_twin import ChosenTwin
from failbench.studies.benchmark.declarations import workflow
from failbench.studies.benchmark.figure import twin_picture
from failbench.studies.benchmark.report import workflow_counts
from failbench.studies.benchmark.rules_tables import nodes
from failbench.studies.benchmark.tree_figure import tree_picture, tree_points
from failbench.studies.benchmark.workflow_figure import (
    arrows,
    placed_boxes,
    workflow_picture,
    workflow_points,
)
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


def written(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def made_up_twin(scenario: Scenario, jump: float) -> ChosenTwin:
    steps = list(range(100, 140))
    points = pl.concat(
        pl.DataFrame(
            {
                "role": role,
                "step": steps,
                "loss": [5.0 + (height if step > 120 else 0.0) for step in steps],
                "learning_rate": [
                    0.01 * (jump if height and step >= 120 else 1.0) for step in steps
                ],
            }
        )
        for role, height in (("failing", 9.0), ("twin", 0.0))
    )
    return ChosenTwin("a-run", scenario, 120, 121, "diverged", 5, "learning_rate", 120, points)


@pytest.mark.parametrize(("jump", "scale"), [(100.0, "log"), (2.0, "linear")])
def test_the_twin_is_printable_and_a_wide_signal_has_a_logarithmic_axis(
    small_scenarios, jump, scale, tmp_path
):
    picture = twin_picture(made_up_twin(small_scenarios[1], jump))
    figure = assert_printable(picture)
    loss, signal = figure.axes
    assert (loss.get_yscale(), signal.get_yscale()) == ("linear", scale)
    assert {"fault on: 120", "failed: 121"} <= set(written(figure))
    assert "diverged 1 step later" in picture.title
    assert picture.height <= 2.2
    assert_repeats(picture, tmp_path)


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


def test_boxes_of_a_row_are_as_high_as_one_another_and_below_the_row_above():
    placed = placed_boxes(workflow(), workflow_counts(76))
    bottom = 0.0
    for row in workflow().rows:
        tops = {placed[box.id].top for box in row}
        assert len(tops) == len({placed[box.id].height for box in row}) == 1
        assert tops.pop() > bottom
        bottom = placed[row[0].id].bottom


def test_points_of_the_workflow_name_every_box_and_what_arrows_come_from():
    points = workflow_points(workflow_counts(76))
    assert points["box"].to_list() == [box.id for box in workflow().boxes]
    before = dict(points.select("box", "from").iter_rows())
    assert before["scenario"] == ""
    assert set(before["recorder"].split()) == {"scenario", "twin"}
    assert sum(len(names.split()) for names in before.values()) == len(arrows(workflow()))


def test_a_number_that_the_workflow_lacks_is_named():
    with pytest.raises(KeyError, match="scenarios"):
        workflow_picture({})


def test_the_tree_is_printable_and_every_node_is_in_it(tmp_path):
    picture = tree_picture()
    figure = assert_printable(picture)
    assert figure.get_figheight() <= 8.5
    drawn = " ".join(written(figure))
    for node in nodes():
        assert node.name.split()[0] in drawn
    letters = [text for text in written(figure) if len(text) == 1]
    assert len(letters) == 34 + 6  # leaves, and the legend
    points = tree_points(nodes())
    assert points.height == 47
    assert points["row"].to_list() == list(range(47))
    assert_repeats(picture, tmp_path)


def test_lines_are_no_wider_than_asked_and_lose_no_word():
    text = "one of many root causes, injected into a training run at its onset"
    lines = lines_of(text, 60.0)
    assert len(lines) > 2
    assert all(width_of(line) <= 60.0 for line in lines)
    assert " ".join(lines) == text
    assert lines_of("incomprehensibilities all", 5 * LEAST_TEXT) == ("incomprehensibilities", "all")
