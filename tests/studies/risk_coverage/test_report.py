from __future__ import annotations

import polars as pl
import pytest

from failbench.studies.risk_coverage.report import report, reported_points
from failbench.studies.risk_coverage.results import AREA, RiskCoverageSettings
from made_up import made_up_predictions

SETTINGS = RiskCoverageSettings(resamples=1000, confidence=0.95, seed=0, points=20)


@pytest.fixture(scope="module")
def of_one_method(reported):
    predictions = made_up_predictions().with_columns(method=pl.lit("improved_rules"))
    return report(predictions, reported, SETTINGS)


def test_the_figure_is_drawn_from_the_points_as_they_are_published(of_one_method):
    points = of_one_method.points["risk_coverage"]
    assert points.height == 20
    assert points["risk"].equals(points["risk"].round(6))
    drawn, styles, _ = of_one_method.figures["risk_coverage"].draw.args
    assert drawn.equals(points)
    assert list(styles) == ["improved_rules"]


def test_the_papers_rules_are_where_they_answer_all_and_where_they_commit(reported):
    points = reported_points(reported)
    committed, all_of_them = points["improved_rules"]
    assert (committed.coverage, committed.risk) == pytest.approx((0.697, 0.113))
    assert (all_of_them.coverage, all_of_them.risk) == pytest.approx((1, 0.382))
    assert points["hybrid_two_way"][0].risk == pytest.approx(0.13)


def test_the_area_keeps_all_its_digits_until_it_is_written(of_one_method):
    area = of_one_method.metrics["19"]["improved_rules"][AREA]
    assert set(area) == {"value", "ci_low", "ci_high", "n"}
    assert of_one_method.summary[0].rows == [
        ("19", "improved_rules", *(area[key] for key in ("value", "ci_low", "ci_high", "n")))
    ]
