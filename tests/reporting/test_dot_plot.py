from __future__ import annotations

import polars as pl
import pytest
from matplotlib.figure import Figure

from failbench.study.dot_plot import dot_plot
from failbench.study.style import Mark
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


def test_a_value_without_an_interval_has_no_bar():
    axes = Figure().subplots()
    dot_plot(axes, POINTS, ROWS, {"b": MARKS["b"]})
    (bars,) = axes.collections
    assert not any(len(segment) for segment in bars.get_segments())
