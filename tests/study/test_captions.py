"""Captions: how texts name numbers and what they may claim of them; what notes say of all runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.scenarios import read_scenarios
from failbench.study.captions import Captions
from failbench.study.labels import REPLACED, SCALE_NOTE
from failbench.study.scope import Scope, scale_of
from unknown_anatomy import ARBITRARY, CONFLICTING

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


@pytest.fixture(scope="module")
def runs(repository):
    return pl.read_parquet(repository / "data/telemetry/runs.parquet")


def test_the_note_on_scale_says_what_was_recorded(runs):
    assert scale_of(runs) == SCALE_NOTE
    assert set(runs["device"]) == {"cpu"}
    assert set(runs["tokenizer_vocabulary"].drop_nulls()) == {512}


def test_a_scope_is_counted_from_its_rows():
    rows = pl.DataFrame(
        {
            "run_id": ["a", "a", "b"],
            "scenario": ["x", "x", None],
            "seed": [0, 0, 1],
            "architecture": ["t5", "t5", "gru"],
            "optimizer": ["sgd", "sgd", "sgd"],
            "repeat": [0, 1, 0],
        }
    )
    assert Scope.of(rows) == Scope(2, 1, 2, ("gru-sgd", "t5-sgd"), repeats=2, folds=1)
    assert Scope.of(rows).setting == "2 settings (architecture and optimizer)"
    assert Scope.of(rows.head(2)).setting == "one setting (t5-sgd)"


def test_the_scenarios_that_were_replaced_are_gone_and_what_replaced_them_is_there(repository):
    there = {scenario.id for scenario in read_scenarios(repository / "data/scenarios")}
    assert there.isdisjoint(REPLACED)
    assert there.issuperset(REPLACED.values())


def test_unknown_labels_that_conflict_are_unknown(repository):
    unknown = {
        scenario.id
        for scenario in read_scenarios(repository / "data/scenarios")
        if scenario.category == "unknown"
    }
    assert unknown.issuperset((*CONFLICTING, *ARBITRARY))
