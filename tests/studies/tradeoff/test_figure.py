from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

from failbench.errors import BadInputError
from failbench.reporting.labels import drawn_label
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.picture import save_picture
from failbench.studies.tradeoff.figure import (
    LEADER,
    LEFT_OUT,
    measured_picture,
    tradeoff_picture,
)
from failbench.studies.tradeoff.report import report
from failbench.studies.tradeoff.results import tradeoff_points
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


@pytest.fixture(scope="module")
def points(made_up_metrics, reported):
    return tradeoff_points(made_up_metrics, reported)


@pytest.fixture(scope="module")
def figure(points, repository):
    with mpl.rc_context(fname=repository / "figures" / "matplotlibrc"):
        return assert_printable(tradeoff_picture(points))


def names(axes):
    return [text for text in axes.texts if text.get_text()]


def test_points_are_the_measured_methods_and_those_of_the_papers_figure(points, measured):
    assert not points.select("source", "method").is_duplicated().any()
    by_source = dict(points.group_by("source").agg("method").iter_rows())
    assert set(by_source["measured"]) == set(measured["19"])
    assert set(by_source["reported"]) == {
        *("simple_rules", "improved_rules", "logistic_regression", "decision_tree"),
        *("random_forest", "lightgbm", "ebm", "hybrid_two_way"),
    }


def test_a_measured_point_has_conditions_and_a_reported_one_a_score(points):
    rows = {(row["source"], row["method"]): row for row in points.iter_rows(named=True)}
    forest = rows["measured", "random_forest"]
    assert (forest["conditions"], forest["conditions_low"]) == (612.0, pytest.approx(550.8))
    assert (forest["accuracy"], forest["n"], forest["score_low"]) == (0.56, 76, None)
    tree = rows["reported", "decision_tree"]
    assert (tree["score_low"], tree["score_high"], tree["conditions"]) == (60, 80, None)
    assert (tree["accuracy"], tree["accuracy_low"], tree["accuracy_high"]) == (0.913, 0.895, 0.931)


def test_the_points_are_those_of_the_papers_features_alone(points, measured, reported):
    del measured["19+keywords"]
    assert tradeoff_points(measured, reported).equals(points)


def test_every_point_is_labelled_in_its_panel(figure, points):
    for axes, source in zip(figure.axes, ("measured", "reported"), strict=True):
        methods = points.filter(pl.col("source") == source)["method"]
        labels = sorted(text.get_text().removesuffix(" (no conditions)") for text in names(axes))
        assert labels == sorted(drawn_label(method) for method in methods)


def test_no_label_covers_another_or_leaves_its_panel(figure):
    renderer = FigureCanvasAgg(figure).get_renderer()
    for axes in figure.axes:
        boxes = [text.get_window_extent(renderer) for text in names(axes)]
        assert all(Bbox.intersection(*pair) is None for pair in combinations(boxes, 2))
        frame = axes.get_window_extent(renderer).padded(0.5)
        assert all(frame.contains(*box.min) and frame.contains(*box.max) for box in boxes)


def test_no_label_lies_on_a_mark_or_an_interval(figure):
    renderer = FigureCanvasAgg(figure).get_renderer()
    for axes in figure.axes:
        leads = {line for line in axes.lines if line.get_linewidth() == LEADER}
        drawn = [line for line in axes.lines if line not in leads]
        for text in names(axes):
            box = text.get_window_extent(renderer).padded(-0.5)
            for line in drawn:
                path = line.get_path().transformed(line.get_transform())
                crossed = path.intersects_bbox(box, filled=False)
                across = list(line.get_xdata()) == [0, 1]
                assert not crossed or (across and "no conditions" in text.get_text()), text


def test_every_method_has_its_own_mark(figure, points):
    for axes, source in zip(figure.axes, ("measured", "reported"), strict=True):
        marks = {(line.get_color(), line.get_marker()) for line in axes.lines}
        for method in points.filter(pl.col("source") == source)["method"]:
            assert (METHOD_STYLES[method].colour, METHOD_STYLES[method].marker) in marks


def test_both_panels_run_from_easy_to_hard(figure):
    left, right = figure.axes
    assert left.get_xscale() == "log"
    assert left.get_xlim()[0] < left.get_xlim()[1]
    assert right.get_xlim()[0] > 100 > 0 > right.get_xlim()[1]


def test_a_method_without_conditions_is_a_line_across(figure):
    left, right = figure.axes
    across = [line for line in left.lines if list(line.get_xdata()) == [0, 1]]
    assert [line.get_ydata()[0] for line in across] == [pytest.approx(70.0)]
    assert not [line for line in right.lines if list(line.get_xdata()) == [0, 1]]


def test_a_range_of_scores_is_a_bar_with_the_mark_at_its_ends_alone(figure):
    _, right = figure.axes
    bars = [line for line in right.lines if list(line.get_xdata()) == [60.0, 80.0]]
    assert sorted(line.get_ydata()[0] for line in bars) == [
        pytest.approx(87.0),
        pytest.approx(91.3),
    ]
    assert not [line for line in right.lines if list(line.get_xdata()) == [70.0]]


def test_methods_that_give_no_conditions_at_all_can_be_drawn(measured, reported):
    bare = {"19": {"simulated_human": measured["19"]["simulated_human"]}}
    left, _ = tradeoff_picture(tradeoff_points(bare, reported)).figure().axes
    assert left.get_xlim() == (1.0, 10.0)


def test_a_method_without_a_label_is_refused_by_name(measured, reported):
    measured["19"]["oracle"] = measured["19"]["ebm"]
    with pytest.raises(BadInputError, match="oracle"):
        tradeoff_picture(tradeoff_points(measured, reported))


def test_the_same_points_give_the_same_bytes(points, tmp_path):
    assert_repeats(tradeoff_picture(points), tmp_path)


def test_the_report_draws_the_points_that_it_publishes(made_up_metrics, reported, tmp_path):
    published = report(made_up_metrics, reported)
    assert list(published.points) == ["tradeoff"]
    assert list(published.figures) == ["tradeoff", "tradeoff_measured"]
    save_picture(published.figures["tradeoff"], tmp_path / "published")
    save_picture(tradeoff_picture(published.points["tradeoff"]), tmp_path / "drawn")
    assert (tmp_path / "published").read_bytes() == (tmp_path / "drawn").read_bytes()


def test_the_smaller_picture_has_the_measured_methods_but_variants(points, repository):
    with mpl.rc_context(fname=repository / "figures" / "matplotlibrc"):
        (axes,) = assert_printable(measured_picture(points)).axes
    measured = points.filter(pl.col("source") == "measured")["method"]
    shown = {text.get_text().removesuffix(" (no conditions)") for text in names(axes)}
    assert shown == {drawn_label(method) for method in measured if method not in LEFT_OUT}
