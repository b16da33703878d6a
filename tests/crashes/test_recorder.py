import sys
from types import SimpleNamespace
from typing import get_args

import pytest

from failbench.cli.options import PREDICTORS as NAMES
from failbench.crashes.answer_table import ANSWER_TABLE, record
from failbench.crashes.answers import asked
from failbench.crashes.catalogue import PREDICTORS, Predictor
from failbench.crashes.prediction import CrashPrediction


@pytest.fixture
def told(monkeypatch):
    """A predictor that says that every target crashes, and the questions it was asked."""
    questions = []

    def predict(question):
        questions.append(question)
        return CrashPrediction(True, "KeyError", "It always does.", 1)

    module = SimpleNamespace(predict=predict, maker=lambda: module.version, version="1")
    monkeypatch.setitem(sys.modules, "a_predictor", module)
    predictor = Predictor("told", "Told", "a_predictor", ("code", "all"), recorded=True)
    return SimpleNamespace(questions=questions, predictor=predictor, module=module)


def recorded(cases, told, path):
    before = len(told.questions)
    number = record(cases, [told.predictor], path, lambda *_: None)
    assert len(told.questions) - before == number
    return number


def test_every_notebook_is_asked_about_in_every_arm_once_and_again_when_it_changes(
    case, told, tmp_path
):
    path = tmp_path / "answers.parquet"
    for asked_about, number in (
        ([case(), case("second")], 4),
        ([case(), case("second")], 0),
        ([case(target="x[1]"), case("second")], 2),
    ):
        assert recorded(asked_about, told, path) == number
    told.module.version = "2"
    assert recorded([case("second")], told, path) == 2
    table = ANSWER_TABLE.read(path)  # what is gone is dropped
    assert table.select("pair", "arm").rows() == [("second", "all"), ("second", "code")]
    assert set(table["exception"]) == {"KeyError"}


def test_questions_differ_by_code_and_by_what_is_told(case):
    one = case()
    assert len({asked(one.ask(arm)) for arm in ("code", "type", "all", "other")}) == 4
    assert asked(one.ask("all")) == asked(case(version="mended").ask("all"))
    # and the command knows who may be asked
    assert tuple(predictor.name for predictor in PREDICTORS) == get_args(NAMES)
