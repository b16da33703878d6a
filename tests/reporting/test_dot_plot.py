from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from failbench.reporting.dot_plot import draw_marks, rule_rows

RATES = pl.DataFrame({"value": [0.5, 0.8], "ci_low": [0.4, 0.7], "ci_high": [0.7, 0.85]})


def test_marks_stand_at_their_values_and_bars_reach_to_the_bounds():
    axes = Figure().subplots()
    draw_marks(axes, RATES, np.array([0.1, 1.1]), colour="black", marker="o", scale=100)
    (container,) = axes.containers
    points, _, (bars,) = container
    assert points.get_xydata().tolist() == [[50.0, 0.1], [80.0, 1.1]]
    ends = [segment[:, 0].tolist() for segment in bars.get_segments()]
    assert ends == [pytest.approx([40, 70]), pytest.approx([70, 85])]


def test_rows_are_named_from_the_top_with_a_line_between_each_and_the_next():
    axes = Figure().subplots()
    rule_rows(axes, ["one", "two", "three"], 7, last=0.8)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two", "three"]
    top, bottom = axes.get_ylim()[1], axes.get_ylim()[0]
    assert (top, bottom) == (-0.5, 2.5)
    lines = [(line.get_ydata()[0], line.get_linewidth()) for line in axes.get_lines()]
    assert lines == [(0.5, 0.2), (1.5, 0.8)]


def test_a_single_row_has_no_line():
    axes = Figure().subplots()
    rule_rows(axes, ["one"], 7, last=0.8)
    assert not axes.get_lines()
