from __future__ import annotations

import pytest

from failbench.base.vocabulary import CATEGORIES
from failbench.study.run_curves import LOSS_LIMIT, gallery_picture, sheet_curves, sheet_runs
from failbench.study.style import CATEGORY_COLOURS, MARK, TWIN
from printed_pictures import assert_printable

pytestmark = pytest.mark.usefixtures("project_style")


def sheet(telemetry, scenarios, category, curves=None):
    return gallery_picture(
        category,
        sheet_runs(telemetry, scenarios),
        sheet_curves(telemetry, 1) if curves is None else curves,
        setting="all runs",
    )


def cell(telemetry, scenarios, category, curves=None):
    """The figure of a sheet that has one run, and the axes of its loss."""
    figure = assert_printable(sheet(telemetry, scenarios, category, curves))
    loss_axes, _ = sorted(figure.axes, key=lambda axes: -axes.get_position().y0)
    return figure, loss_axes


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("memory_hardware", "late crash"),
        ("optimization", "runaway"),
        ("model_software", "no start"),
    ],
)
def test_gallery_has_a_cell_for_every_failing_run_even_one_without_steps(
    small_telemetry, small_scenarios, category, name
):
    _, loss_axes = cell(small_telemetry, small_scenarios, category)
    assert loss_axes.get_title(loc="left") == name


def test_gallery_shows_a_loss_beyond_the_limit_at_the_top_with_a_triangle(
    small_telemetry, small_scenarios
):
    _, loss_axes = cell(small_telemetry, small_scenarios, "optimization")
    (triangle,) = [line for line in loss_axes.lines if line.get_marker() == "^"]
    assert (triangle.get_xdata()[0], triangle.get_ydata()[0]) == (6, LOSS_LIMIT)


def test_categories_are_told_apart_by_colours_of_their_own():
    assert set(CATEGORY_COLOURS) == set(CATEGORIES)
    assert len({*CATEGORY_COLOURS.values(), TWIN, MARK}) == len(CATEGORIES) + 2
