"""Placeholders and conditions: how metrics are found, written, and compared."""

from __future__ import annotations

import pytest

from failbench.errors import BadInputError
from failbench.studies.negative_results.placeholders import estimate_at, filled, unmet

METRICS = {
    "intervals": {
        "19": {
            "ebm": {"accuracy": {"value": 0.279, "ci_low": 0.196, "ci_high": 0.364, "n": 76}},
            "rules": {"accuracy": {"value": 0.6, "n": 76}},
        },
        "thresholds": {"0.60": {"coverage": {"value": 0.5}}, "0": {"60": {"coverage": 1}}},
        "difference": {"value": -0.309, "ci_low": -0.407, "ci_high": 0.018},
        "gain": {"difference": 0.204, "ci_low": 0.137, "ci_high": 0.27, "pairs": 76},
        "all over code": {"p": 0.004},
        "peer:setting": {"value": 3.0},
    }
}


@pytest.mark.parametrize(
    ("placeholder", "written"),
    [
        ("{intervals:19.ebm.accuracy}", "27.9 [19.6, 36.4] %"),
        ("{intervals:19.rules.accuracy}", "60.0 %"),
        ("{intervals:19.ebm.accuracy|percent}", "27.9 %"),
        ("{intervals:19.ebm.accuracy.ci_low|percent}", "19.6 %"),
        ("{intervals:19.ebm.accuracy|number}", "0.28 [0.20, 0.36]"),
        ("{intervals:19.ebm.accuracy.n|count}", "76"),
        ("{intervals:difference|points}", "−30.9 [−40.7, +1.8] points"),
        ("{intervals:gain|size}", "20.4 [13.7, 27.0] points"),
        ("{intervals:thresholds.0.60.coverage|percent}", "50.0 %"),
        ("{intervals:all over code.p|number}", "0.00"),
        ("{intervals:peer:setting|count}", "3"),
    ],
)
def test_a_metric_is_written_in_its_form(placeholder, written):
    assert filled(f"It is {placeholder}.", METRICS) == f"It is {written}."


def test_an_estimate_carries_its_n_or_its_pairs():
    assert estimate_at(METRICS, "intervals", "19.ebm.accuracy").n == 76
    assert estimate_at(METRICS, "intervals", "gain").n == 76
    assert estimate_at(METRICS, "intervals", "difference").n is None


@pytest.mark.parametrize("path", ["19.ebm.accuracies", "19.lightgbm.accuracy", "nothing"])
def test_a_path_that_is_not_there_is_an_error_that_names_file_and_path(path):
    with pytest.raises(BadInputError) as error:
        filled(f"{{intervals:{path}}}", METRICS)
    assert str(error.value).startswith(f"data/metrics/intervals.json: {path}: ")
    assert "\n" not in str(error.value)


def test_an_unknown_form_is_refused_with_those_that_there_are():
    with pytest.raises(BadInputError, match="points, size, percent, number, count"):
        filled("{intervals:difference|pints}", METRICS)


@pytest.mark.parametrize(
    "condition",
    [
        "intervals:difference < 0",
        "intervals:difference.ci_high > 0",
        "intervals:19.ebm.accuracy.ci_high <= intervals:19.rules.accuracy",
        "intervals:19.rules.accuracy >= 0.6",
        "intervals:all over code.p < 0.05",
    ],
)
def test_conditions_that_hold_pass(condition):
    assert unmet(condition, METRICS, "entry") is None


@pytest.mark.parametrize(
    "condition",
    [
        "intervals:difference > 0",
        "intervals:difference.ci_high < 0",
        "intervals:19.ebm.accuracy > intervals:19.rules.accuracy",
    ],
)
def test_a_condition_that_the_metrics_no_longer_meet_says_why(condition):
    reason = unmet(condition, METRICS, "weighed_evidence")
    assert reason is not None
    assert reason.startswith(f"{condition} is not so, with ")


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("intervals:difference", "is no comparison"),
        ("intervals:difference < zero", "neither a number nor a metric"),
        ("intervals:nowhere < 0", "there is no such metric"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(condition, problem):
    with pytest.raises(BadInputError, match=problem):
        unmet(condition, METRICS, "entry")
