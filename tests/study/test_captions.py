"""Captions: how texts name numbers, and what they may claim of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.study import Captions

NUMBERS = {
    "intervals": {
        "19": {
            "ebm": {"accuracy": {"value": 0.279, "ci_low": 0.196, "ci_high": 0.364, "n": 76}},
            "rules": {"accuracy": {"value": 0.6, "n": 70}},
        },
        "thresholds": {"0.60": {"coverage": {"value": 0.5}}, "0": {"60": {"coverage": 1}}},
        "difference": {"value": -0.309, "ci_low": -0.407, "ci_high": 0.018},
        "gain": {"difference": 0.204, "ci_low": 0.137, "ci_high": 0.27, "pairs": 76},
        "all over code": {"p": 0.004},
        "peer:setting": {"value": 3.0},
    }
}


def captions(text: object = "") -> Captions:
    return Captions(Path("captions.yaml"), {"table": {"caption": text}}, NUMBERS)


@pytest.mark.parametrize(
    ("placeholder", "written"),
    [
        ("{intervals.19.ebm.accuracy} %", "27.9 [19.6, 36.4] %"),
        ("{intervals.19.rules.accuracy} %", "60.0 %"),
        ("{intervals.19.ebm.accuracy.value} %", "27.9 %"),
        ("{intervals.19.ebm.accuracy.ci_low} %", "19.6 %"),
        ("{intervals.19.ebm.accuracy|two}", "0.28 [0.20, 0.36]"),
        ("{intervals.19.ebm.accuracy.n}", "76"),
        ("{intervals.difference|points} points", "−30.9 [−40.7, +1.8] points"),
        ("{intervals.gain} points", "20.4 [13.7, 27.0] points"),
        ("{intervals.thresholds.0.60.coverage} %", "50.0 %"),
        ("{intervals.all over code.p|two}", "0.00"),
        ("{intervals.peer:setting|count}", "3"),
    ],
)
def test_a_number_is_written_in_its_form(placeholder, written):
    assert captions(f"It is {placeholder}.").caption("table") == f"It is {written}."


@pytest.mark.parametrize("path", ["19.ebm.accuracies", "19.lightgbm.accuracy", "nothing"])
def test_a_path_that_is_not_there_is_an_error_that_names_it(path):
    with pytest.raises(BadInputError, match=f"'intervals.{path}' names no number"):
        captions(f"{{intervals.{path}}}").caption("table")


def test_an_unknown_form_is_refused_with_those_that_there_are():
    with pytest.raises(BadInputError, match="percent, share, whole, points"):
        captions("{intervals.difference|pints}").caption("table")


def test_estimates_of_a_text_are_found_whole_and_by_their_values():
    text = "{intervals.19.ebm.accuracy} {intervals.19.rules.accuracy.value} {intervals.gain}"
    found = captions().estimates_in(f"{text} {{intervals.all over code.p}}")
    assert [each.get("n", each.get("pairs")) for each in found] == [76, 70, 76]


@pytest.mark.parametrize(
    "condition",
    [
        "intervals.difference < 0",
        "intervals.difference.ci_high > 0",
        "intervals.19.ebm.accuracy.ci_high <= intervals.19.rules.accuracy",
        "intervals.19.rules.accuracy >= 0.6",
        "intervals.all over code.p < 0.05",
    ],
)
def test_conditions_that_hold_pass(condition):
    assert list(captions().unmet([condition], "table.holds")) == []
    assert captions({"text": "So it is.", "holds": condition}).caption("table") == "So it is."


@pytest.mark.parametrize(
    "condition",
    [
        "intervals.difference > 0",
        "intervals.difference.ci_high < 0",
        "intervals.19.ebm.accuracy > intervals.19.rules.accuracy",
    ],
)
def test_a_condition_that_does_not_hold_says_why(condition):
    (reason,) = captions().unmet([condition], "table.holds")
    assert reason.startswith(f"{condition} is not so, with ")
    with pytest.raises(BadInputError, match="is not so, with "):
        captions({"text": "So it is.", "holds": condition}).caption("table")


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("intervals.difference", "is no comparison"),
        ("intervals.difference < zero", "'zero' names no number"),
        ("intervals.nowhere < 0", "'intervals.nowhere' names no number"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(condition, problem):
    with pytest.raises(BadInputError, match=problem):
        list(captions().unmet([condition], "table.holds"))
