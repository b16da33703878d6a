from __future__ import annotations

from xml.etree import ElementTree

import polars as pl
import pytest

from failbench.reporting.run_curves import run_curves, sheet_curves, sheet_runs
from failbench.reporting.run_panels import LOSS_LIMIT, PANELS, dashboard, gallery
from failbench.reporting.style import CATEGORY_COLOURS, LINE, MARK, TWIN, save_svg
from failbench.vocabulary import CATEGORIES

pytestmark = pytest.mark.usefixtures("project_style")


def draw_dashboard(telemetry):
    curves = run_curves(telemetry, "runaway-transformer-adamw-s0")
    return dashboard(curves, title="a run", onset_step=5, failure_step=6)


def draw_gallery(telemetry, scenarios):
    return gallery(sheet_runs(telemetry, scenarios), sheet_curves(telemetry, 1), title="all runs")


def vertical_lines(axes):
    """Steps of the vertical markers, by whether the line is dashed."""
    return {
        line.is_dashed(): line.get_xdata()[0]
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]
    }


def test_dashboard_has_the_six_panels_each_with_run_and_twin(small_telemetry):
    figure = draw_dashboard(small_telemetry)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [panel.title for panel in PANELS]
    for axes in figure.axes:
        colours = [line.get_color() for line in axes.lines]
        assert LINE in colours
        assert TWIN in colours


def test_dashboard_marks_onset_and_failure_in_every_panel(small_telemetry):
    for axes in draw_dashboard(small_telemetry).axes:
        assert vertical_lines(axes) == {True: 5, False: 6}


def test_gallery_has_a_cell_for_every_failing_run_even_one_without_steps(
    small_telemetry, small_scenarios
):
    figure = draw_gallery(small_telemetry, small_scenarios)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == ["late_crash", "runaway", "no_start"]


def test_gallery_draws_the_twin_in_grey_below_the_failing_run(small_telemetry, small_scenarios):
    figure = draw_gallery(small_telemetry, small_scenarios)
    loss_axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == "runaway")
    colours = [line.get_color() for line in loss_axes.lines[:2]]
    assert colours == [TWIN, CATEGORY_COLOURS["optimization"]]


def test_gallery_shows_a_loss_beyond_the_limit_at_the_top_with_a_triangle(
    small_telemetry, small_scenarios
):
    figure = draw_gallery(small_telemetry, small_scenarios)
    loss_axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == "runaway")
    (triangle,) = [line for line in loss_axes.lines if line.get_marker() == "^"]
    assert (triangle.get_xdata()[0], triangle.get_ydata()[0]) == (6, LOSS_LIMIT)


def test_gallery_shows_no_triangle_for_the_step_a_crash_never_finished(
    small_telemetry, small_scenarios
):
    figure = draw_gallery(small_telemetry, small_scenarios)
    loss_axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == "late_crash")
    assert "^" not in {line.get_marker() for line in loss_axes.lines}


def test_categories_are_told_apart_by_colours_of_their_own():
    assert set(CATEGORY_COLOURS) == set(CATEGORIES)
    assert len({*CATEGORY_COLOURS.values(), TWIN, MARK}) == len(CATEGORIES) + 2


def test_the_same_points_give_the_same_bytes(small_telemetry, small_scenarios, tmp_path):
    for name, draw in [
        ("dashboard", lambda: draw_dashboard(small_telemetry)),
        ("gallery", lambda: draw_gallery(small_telemetry, small_scenarios)),
    ]:
        first, second = tmp_path / f"{name}-1.svg", tmp_path / f"{name}-2.svg"
        save_svg(draw(), first)
        save_svg(draw(), second)
        assert first.read_bytes() == second.read_bytes()


def test_a_saved_figure_is_svg_without_a_date_or_a_version(small_telemetry, tmp_path):
    path = tmp_path / "new" / "figure.svg"
    save_svg(draw_dashboard(small_telemetry), path)
    text = path.read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "Matplotlib" not in text
    assert "date" not in text


def test_a_curve_with_a_single_point_is_visible(small_telemetry, small_scenarios):
    points = sheet_curves(small_telemetry, 1).filter(pl.col("step") == 0)
    figure = gallery(sheet_runs(small_telemetry, small_scenarios), points, title="one step")
    assert figure.axes[0].lines[0].get_marker() == "."
