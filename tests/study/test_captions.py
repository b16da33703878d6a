from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.study.captions import Captions

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


def captions(text: object = "", numbers: dict[str, object] = NUMBERS) -> Captions:
    return Captions(Path("captions.yaml"), {"table": {"caption": text}}, numbers)


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


@pytest.mark.parametrize(
    ("placeholder", "problem"),
    [
        ("{intervals.19.ebm.accuracies}", "'intervals.19.ebm.accuracies' names no number"),
        ("{intervals.nothing}", "'intervals.nothing' names no number"),
        ("{intervals.difference|pints}", "percent, share, whole, points"),
    ],
)
def test_a_path_that_is_not_there_and_an_unknown_form_are_refused(placeholder, problem):
    with pytest.raises(BadInputError, match=problem):
        captions(placeholder).caption("table")


def test_parts_are_joined_by_spaces_but_before_punctuation():
    parts = ["It is {a}", {"when": "a", "text": ", says {b}"}, {"unless": "a", "text": "no"}, "So."]
    said = captions(parts, {"a": 1, "b": "somebody"})
    assert said.caption("table") == "It is 1, says somebody So."


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("intervals.difference < 0", True),
        ("intervals.difference.ci_high > 0", True),
        ("intervals.19.ebm.accuracy.ci_high <= intervals.19.rules.accuracy", True),
        ("intervals.19.rules.accuracy >= 0.6", True),
        ("intervals.all over code.p < 0.05", True),
        ("intervals.difference > 0", False),
        ("intervals.difference.ci_high < 0", False),
        ("intervals.19.ebm.accuracy > intervals.19.rules.accuracy", False),
    ],
)
def test_a_condition_holds_or_says_why_not(condition, holds):
    unmet = list(captions().unmet([condition], "table.holds"))
    said = captions({"text": "So it is.", "holds": condition})
    if holds:
        assert (unmet, said.caption("table")) == ([], "So it is.")
    else:
        assert unmet[0].startswith(f"{condition} is not so, with ")
        with pytest.raises(BadInputError, match="is not so, with "):
            said.caption("table")
