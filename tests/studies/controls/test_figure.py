"""The figure of the controls, from made-up results."""

from __future__ import annotations

import pytest
from matplotlib.text import Text

from failbench.statistics.bootstrap import Interval
from failbench.studies.controls.figure import controls_picture, controls_points
from failbench.studies.controls.results import ControlResult
from failbench.studies.controls.tables import CONTROL_LABELS
from made_up_controls import SETTINGS
from printed_pictures import assert_printable, assert_repeats

RESULT = ControlResult(
    value=0.21, ci_low=0.18, ci_high=0.24, n=76, p=0.4, permutations=40, verdict="pass"
)
LEAK = ControlResult(
    value=0.42, ci_low=0.35, ci_high=0.48, n=76, p=0.01, permutations=40, verdict="fail"
)
TWINS = Interval(
    value=0.2,
    ci_low=0.17,
    ci_high=0.25,
    n=76,
    method="BCa bootstrap",
    resampling_unit="scenario",
    estimand="made up",
)
RESULTS = {**dict.fromkeys(CONTROL_LABELS, RESULT), "planted_leak": LEAK}


@pytest.mark.usefixtures("project_style")
def test_every_control_is_drawn_with_its_verdict_and_the_leak_is_found(tmp_path):
    points = controls_points(RESULTS, TWINS, SETTINGS)
    picture = controls_picture(points, SETTINGS.upper_bound)
    figure = assert_printable(picture)
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert texts.count("pass") == 5
    assert "found, as it must be" in texts
    assert "Raw step series of twins (n = 76)" in texts
    assert (
        picture.title == "6 of 6 controls pass at chance, and the planted leak is found at 42.0 %"
    )
    assert_repeats(picture, tmp_path)


@pytest.mark.usefixtures("project_style")
def test_a_control_that_fails_and_a_leak_that_hides_are_said_in_the_title():
    hidden = LEAK.model_copy(update={"verdict": "pass"})
    failed = {**RESULTS, "twins": LEAK, "planted_leak": hidden}
    points = controls_points(failed, TWINS, SETTINGS)
    picture = controls_picture(points, SETTINGS.upper_bound)
    assert picture.title.startswith("5 of 6 controls pass")
    assert "is not found" in picture.title
    assert_printable(picture)


def test_points_are_the_results():
    points = controls_points(RESULTS, TWINS, SETTINGS)
    assert points["mark"].to_list() == ["control"] * 6 + ["leak"]
    assert points.row(-1)[0:5] == ("planted_leak", "leak", 0.42, 0.35, 0.48)
