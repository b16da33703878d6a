from __future__ import annotations

import polars as pl
import pytest
from matplotlib.figure import Figure

from failbench.reporting.dot_plot import dot_panels, dot_plot, rule_rows
from failbench.reporting.style import Mark
from printed_pictures import marks_of

ROWS = {"one": "One", "two": "Two"}
MARKS = {"a": Mark("mark a", "red", "o"), "b": Mark("mark b", "blue", "s")}
POINTS = pl.DataFrame(
    {
        "row": ["one", "two", "one", "elsewhere"],
        "mark": ["a", "a", "b", "a"],
        "value": [0.5, 0.8, 0.1, 0.2],
        "ci_low": [0.4, 0.7, None, 0.1],
        "ci_high": [0.7, 0.85, None, 0.3],
    }
)


def test_marks_stand_at_their_values_and_bars_reach_to_the_bounds():
    axes = Figure().subplots()
    dot_plot(axes, POINTS, ROWS, {"a": MARKS["a"]})
    (line,), (bars,) = marks_of(axes), axes.collections
    assert line.get_xydata().tolist() == [[50.0, 0.0], [80.0, 1.0]]
    ends = [segment[:, 0].tolist() for segment in bars.get_segments()]
    assert ends == [pytest.approx([40, 70]), pytest.approx([70, 85])]


def test_marks_of_a_row_stand_below_one_another_in_their_order():
    axes = Figure().subplots()
    dot_plot(axes, POINTS, ROWS, MARKS, spread=0.4, scale=1.0)
    first, second = (line.get_xydata().tolist() for line in marks_of(axes))
    assert first == [[0.5, pytest.approx(-0.2)], [0.8, pytest.approx(0.8)]]
    assert second == [[0.1, pytest.approx(0.2)]]


def test_a_value_without_an_interval_has_no_bar():
    axes = Figure().subplots()
    dot_plot(axes, POINTS, ROWS, {"b": MARKS["b"]})
    (bars,) = axes.collections
    assert not any(len(segment) for segment in bars.get_segments())


def test_an_interval_that_does_not_hold_its_value_is_drawn_as_it_is():
    axes = Figure().subplots()
    beside = POINTS.head(1).with_columns(ci_low=0.6, ci_high=0.7)
    dot_plot(axes, beside, ROWS, {"a": MARKS["a"]})
    (bars,) = axes.collections
    assert bars.get_segments()[0][:, 0].tolist() == pytest.approx([60, 70])


def test_rows_are_named_from_the_top_with_a_line_between_each_and_the_next():
    axes = Figure().subplots()
    rule_rows(axes, {"one": "One", "two": "Two", "three": "Three"}, heavy_above=["three"])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["One", "Two", "Three"]
    assert axes.get_ylim() == (2.5, -0.5)
    (thin, heavy) = axes.get_lines()
    assert (thin.get_ydata()[0], heavy.get_ydata()[0]) == (0.5, 1.5)
    assert heavy.get_linewidth() > thin.get_linewidth()


def test_a_single_row_has_no_line():
    axes = Figure().subplots()
    rule_rows(axes, {"one": "One"})
    assert not axes.get_lines()


@pytest.mark.usefixtures("project_style")
@pytest.mark.parametrize("guide", [True, False])
def test_panels_repeat_the_value_of_the_first_where_they_have_the_row(guide):
    points = pl.concat(
        [
            POINTS.filter(pl.col("mark") == "a").with_columns(panel=pl.lit("before")),
            POINTS.head(1).with_columns(panel=pl.lit("after")),
        ]
    )
    panels = {"before": "Before", "after": "After"}
    first, second = dot_panels(
        Figure(), points, ROWS, {"a": MARKS["a"]}, panels, spread=0.0, guide=guide
    )
    assert [axes.get_title("left") for axes in (first, second)] == ["Before", "After"]
    guides = [line for line in second.get_lines() if list(line.get_xdata()) == [50.0, 50.0]]
    assert len(guides) == guide
    assert not [line for line in second.get_lines() if list(line.get_xdata()) == [80.0, 80.0]]
