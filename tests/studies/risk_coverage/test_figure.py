from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.reporting.method_styles import METHOD_STYLES
from failbench.studies.risk_coverage.figure import risk_coverage_picture

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
