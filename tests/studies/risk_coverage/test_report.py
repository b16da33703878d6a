from __future__ import annotations

import pytest

from failbench.studies.risk_coverage.report import report
from failbench.studies.risk_coverage.results import AREA, RiskCoverageSettings
from made_up import made_up_predictions

SETTINGS = RiskCoverageSettings(resamples=1000, confidence=0.95, seed=0, points=20)


@pytest.fixture(scope="module")
def of_one_method():
    return report(made_up_predictions(), SETTINGS)


def test_the_figure_is_drawn_from_the_points_as_they_are_published(of_one_method):
    points = of_one_method.points["risk_coverage"]
    assert points.height == 20
    assert points["risk"].equals(points["risk"].round(6))
    assert of_one_method.figures["risk_coverage"].args == (points,)


def test_the_area_keeps_all_its_digits_until_it_is_written(of_one_method):
    area = of_one_method.metrics["19"]["made_up"][AREA]
    assert set(area) == {"value", "ci_low", "ci_high", "n"}
    assert of_one_method.summary[0].rows == [
        ("19", "made_up", *(area[key] for key in ("value", "ci_low", "ci_high", "n")))
    ]
