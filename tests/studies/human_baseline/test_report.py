from __future__ import annotations

import pytest

from failbench.studies.human_baseline.report import report
from failbench.studies.human_baseline.results import GROUPS
from made_up_people import LEVELS, SETTINGS, hybrid_predictions, measured_scenarios, measured_shares


@pytest.fixture(scope="module")
def of_people(reported):
    return report(
        LEVELS, measured_scenarios(), measured_shares(), hybrid_predictions(), reported, SETTINGS
    )


def test_the_figure_is_drawn_from_points_and_curves_as_published_beside_the_papers_figure(
    of_people,
):
    points, curves = of_people.points["human_baseline"], of_people.points["human_skill"]
    assert curves["right"].equals(curves["right"].round(6))
    assert of_people.figures["human_baseline"].draw.args == (points, curves, (0.72, 0.12))
    assert of_people.tables[0].rows[0][3] == "72.0"


def test_metrics_hold_studies_by_design_and_people_by_group(of_people):
    assert set(of_people.metrics["coupling_0_panel"]) == {"accuracy", "deviation"}
    assert set(of_people.metrics["coupling_1"]) == {f"accuracy_{group}" for group in GROUPS}
    panel = of_people.points["human_baseline"].filter(coupling=0.0, design="panel")
    estimate = of_people.metrics["coupling_0_panel"]["accuracy"]
    assert panel["accuracy"].item() == round(estimate["value"], 6)
