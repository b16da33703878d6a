from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.methods.catalogue import FEATURE_METHODS
from failbench.reporting.method_styles import METHOD_STYLES
from failbench.reporting.style import PALE, REPORTED_LEVEL
from failbench.studies.risk_coverage.figure import ReportedPoint, risk_coverage_picture
from printed_pictures import assert_printable, assert_repeats

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


def lines_of(axes, colour):
    return [line for line in axes.lines if line.get_color() == colour and len(line.get_xdata()) > 4]


def test_a_panel_per_method_with_a_line_per_feature_set_over_those_of_all_others():
    picture = risk_coverage_picture(made_up_curves(("hybrid", "ebm", "lightgbm")), {})
    figure = assert_printable(picture)
    drawn = [axes for axes in figure.axes if axes.axison]
    titles = [axes.get_title(loc="left") for axes in drawn]
    assert titles == ["LightGBM", "EBM", "Hybrid, three-way"]
    for axes, method in zip(drawn, ("lightgbm", "ebm", "hybrid"), strict=True):
        of_method = lines_of(axes, METHOD_STYLES[method].colour)
        assert [line.get_linestyle() for line in of_method] == ["-", ":"]
        assert len(lines_of(axes, PALE)) == 2


def test_the_line_of_a_method_has_its_points():
    axes, *_ = risk_coverage_picture(made_up_curves(("ebm",), ("19",)), {}).figure().axes
    line, *_ = lines_of(axes, METHOD_STYLES["ebm"].colour)
    assert line.get_xdata()[-1] == 100
    assert line.get_ydata() == pytest.approx(0.0 * line.get_xdata())


def test_the_papers_points_are_ticks():
    reported = {"ebm": (ReportedPoint(0.7, 0.1), ReportedPoint(1.0, 0.4))}
    axes, *_ = risk_coverage_picture(made_up_curves(("ebm",)), reported).figure().axes
    ticks = [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in axes.lines
        if line.get_marker() == REPORTED_LEVEL.marker
    ]
    assert ticks == [pytest.approx((70, 10)), pytest.approx((100, 40))]


def test_the_title_is_of_the_method_that_is_wrong_least_and_is_not_handed_the_category():
    title = risk_coverage_picture(made_up_curves(("hybrid", "ebm", "lightgbm")), {}).title
    assert title.startswith("On the half of the runs that it is surest of, EBM is wrong on 2.5 %")
    assert title.endswith("on 5.0 %")


def test_a_method_whose_rules_were_made_in_view_is_starred_and_never_called_the_best():
    methods = ("invariants", "ebm", "lightgbm")
    curves = made_up_curves(methods).with_columns(
        risk=pl.when(pl.col("method") == "invariants").then(0.0).otherwise("risk")
    )
    picture = risk_coverage_picture(curves, {})
    assert "EBM is wrong on 2.5 %" in picture.title
    assert picture.title.endswith("(*: by rules made with these scenarios in view)")
    titles = [axes.get_title(loc="left") for axes in picture.figure().axes if axes.axison]
    assert titles == ["LightGBM", "EBM", "Invariants*"]


def test_every_method_can_be_drawn_and_every_text_read():
    assert_printable(risk_coverage_picture(made_up_curves(), {}))


def test_the_same_points_give_the_same_bytes(tmp_path):
    assert_repeats(risk_coverage_picture(made_up_curves(("hybrid", "ebm")), {}), tmp_path)
