"""The table of the controls, from made-up results."""

from __future__ import annotations

import pytest

from failbench.statistics.bootstrap import Interval
from failbench.studies.controls.results import ControlResult, LeakTest
from failbench.studies.controls.tables import CONTROL_LABELS, controls_table
from made_up_controls import SETTINGS

RESULT = ControlResult(
    value=0.21, ci_low=0.18, ci_high=0.24, n=76, p=0.4, permutations=40, verdict="pass"
)
HARNESS = LeakTest(identical_predictions=True, positive_control_accuracy=1.0)


def raw_twins(low: float, high: float) -> Interval:
    return Interval(
        value=(low + high) / 2,
        ci_low=low,
        ci_high=high,
        n=76,
        method="BCa bootstrap",
        resampling_unit="scenario",
        estimand="made up",
    )


def verdicts(planted="fail", twins=(0.15, 0.25), harness=HARNESS) -> dict[str, str]:
    results = dict.fromkeys(CONTROL_LABELS, RESULT)
    results["planted_leak"] = RESULT.model_copy(update={"verdict": planted})
    table = controls_table(results, raw_twins(*twins), harness, 60, SETTINGS)
    return {row[0]: row[-1] for row in table.rows}


@pytest.mark.parametrize("verdict", ["pass", "inconclusive"])
def test_a_planted_leak_that_is_not_found_is_an_alarm(verdict):
    assert verdicts(planted=verdict)["Planted leak"] == "not found, which is an alarm"


def test_labels_that_reach_training_or_are_not_read_are_alarms():
    leaking = LeakTest(identical_predictions=False, positive_control_accuracy=0.5)
    rows = verdicts(harness=leaking)
    assert rows["Labels of tested runs"] == "fail: some change"
    assert rows["Labels of all runs"] == "not found, which is an alarm"


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [((0.21, 0.25), "fail: the interval lies above chance"), ((0.15, 0.35), "inconclusive")],
)
def test_series_of_twins_are_judged_by_their_interval(interval, verdict):
    assert verdicts(twins=interval)["Raw step series of twins"] == verdict
