from __future__ import annotations

import polars as pl
import pytest

from failbench.reporting.run_curves import run_curves, sheet_curves, sheet_runs
from failbench.reporting.run_panels import LOSS_LIMIT, PANELS, dashboard_picture, gallery_picture
from failbench.reporting.style import CATEGORY_COLOURS, LINE, MARK, TWIN
from failbench.vocabulary import CATEGORIES
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


def dashboard(telemetry):
    curves = run_curves(telemetry, "runaway-transformer-adamw-s0")
    return dashboard_picture(curves, title="a run that failed", onset_step=5, failure_step=6)


def sheet(telemetry, scenarios, category, curves=None):
    return gallery_picture(
        category,
        sheet_runs(telemetry, scenarios),
        sheet_curves(telemetry, 1) if curves is None else curves,
        setting="all runs",
    )


def vertical_lines(axes):
    """Steps of the vertical markers, by whether the line is dashed."""
    return {
        line.is_dashed(): line.get_xdata()[0]
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]
    }


def test_dashboard_has_the_six_panels_each_with_run_and_twin(small_telemetry):
    figure = assert_printable(dashboard(small_telemetry))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [panel.title for panel in PANELS]
    for axes in figure.axes:
        colours = [line.get_color() for line in axes.lines]
        assert LINE in colours
        assert TWIN in colours


def test_dashboard_marks_onset_and_failure_in_every_panel(small_telemetry):
    for axes in dashboard(small_telemetry).figure().axes:
        assert vertical_lines(axes) == {True: 5, False: 6}


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


def test_gallery_draws_the_twin_in_grey_below_the_failing_run(small_telemetry, small_scenarios):
    _, loss_axes = cell(small_telemetry, small_scenarios, "optimization")
    colours = [line.get_color() for line in loss_axes.lines[:2]]
    assert colours == [TWIN, CATEGORY_COLOURS["optimization"]]


def test_gallery_shows_a_loss_beyond_the_limit_at_the_top_with_a_triangle(
    small_telemetry, small_scenarios
):
    _, loss_axes = cell(small_telemetry, small_scenarios, "optimization")
    (triangle,) = [line for line in loss_axes.lines if line.get_marker() == "^"]
    assert (triangle.get_xdata()[0], triangle.get_ydata()[0]) == (6, LOSS_LIMIT)


def test_gallery_shows_no_triangle_for_the_step_a_crash_never_finished(
    small_telemetry, small_scenarios
):
    _, loss_axes = cell(small_telemetry, small_scenarios, "memory_hardware")
    assert "^" not in {line.get_marker() for line in loss_axes.lines}


def test_gallery_says_how_the_runs_of_the_category_end(small_telemetry, small_scenarios):
    title = sheet(small_telemetry, small_scenarios, "optimization").title
    assert title == "Optimization, 1 failure: 1 diverged (all runs)"


def test_categories_are_told_apart_by_colours_of_their_own():
    assert set(CATEGORY_COLOURS) == set(CATEGORIES)
    assert len({*CATEGORY_COLOURS.values(), TWIN, MARK}) == len(CATEGORIES) + 2


def test_the_same_points_give_the_same_bytes(small_telemetry, small_scenarios, tmp_path):
    assert_repeats(dashboard(small_telemetry), tmp_path)
    assert_repeats(sheet(small_telemetry, small_scenarios, "optimization"), tmp_path)


def test_a_curve_with_a_single_point_is_visible(small_telemetry, small_scenarios):
    points = sheet_curves(small_telemetry, 1).filter(pl.col("step") == 0)
    _, loss_axes = cell(small_telemetry, small_scenarios, "optimization", points)
    assert loss_axes.lines[0].get_marker() == "."
