from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from matplotlib.text import Text

from failbench.methods.catalogue import FEATURE_METHODS
from failbench.reporting.style import METHOD_STYLES, save_svg
from failbench.studies.risk_coverage.figure import draw_risk_coverage

pytestmark = pytest.mark.usefixtures("project_style")

POINTS = 20


def made_up_curves(methods=tuple(METHOD_STYLES), feature_sets=("19", "19+keywords")):
    coverage = np.arange(1, POINTS + 1) / POINTS
    return pl.concat(
        pl.DataFrame(
            {
                "feature_set": feature_set,
                "method": method,
                "coverage": coverage,
                "risk": 0.05 * number * coverage,
            }
        )
        for feature_set in feature_sets
        for number, method in enumerate(methods)
    )


def test_every_method_that_is_compared_has_a_style():
    assert set(FEATURE_METHODS) <= set(METHOD_STYLES)


def test_no_two_methods_look_alike_even_without_colours():
    styles = METHOD_STYLES.values()
    assert len({style.marker for style in styles}) == len(styles)
    for one, other in combinations(styles, 2):
        assert (one.colour, one.line) != (other.colour, other.line)
        assert one.label != other.label


def test_a_panel_per_feature_set_and_a_line_per_method_that_has_a_curve():
    figure = draw_risk_coverage(made_up_curves(("hybrid", "ebm")))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Features: 19",
        "Features: 19 + keywords",
    ]
    for axes in figure.axes:
        colours = {line.get_label(): line.get_color() for line in axes.lines}
        assert colours == {
            METHOD_STYLES[method].label: METHOD_STYLES[method].colour
            for method in ("ebm", "hybrid")
        }


def test_the_line_of_a_method_has_its_points():
    (axes,) = draw_risk_coverage(made_up_curves(("hybrid", "ebm"), ("19",))).axes
    (line,) = [line for line in axes.lines if line.get_label() == "EBM"]
    assert line.get_xdata()[-1] == 1
    assert line.get_ydata() == pytest.approx(0.05 * line.get_xdata())


def test_the_legend_names_each_method_once_in_the_order_of_the_styles():
    figure = draw_risk_coverage(made_up_curves())
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == [style.label for style in METHOD_STYLES.values()]


def test_the_figure_is_two_columns_wide_and_no_text_is_too_small_to_read():
    figure = draw_risk_coverage(made_up_curves())
    assert figure.get_figwidth() == pytest.approx(6.9)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 6


def test_the_same_points_give_the_same_bytes(tmp_path):
    first, second = tmp_path / "1.svg", tmp_path / "2.svg"
    save_svg(draw_risk_coverage(made_up_curves()), first)
    save_svg(draw_risk_coverage(made_up_curves()), second)
    assert first.read_bytes() == second.read_bytes()
