import sys
from dataclasses import fields
from types import SimpleNamespace
from typing import get_args

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.cli.places import PREDICTORS as NAMES
from failbench.crashes.answers import asked
from failbench.crashes.cases import ANSWER_TABLE, read_cases, record
from failbench.crashes.prediction import PREDICTORS, CrashPrediction, Predictor
from failbench.crashes.question import ARMS, Question
from failbench.crashes.small_rules.predict import predict
from failbench.notebooks.summaries import FACTS, Summary

SEED = 20261123


@pytest.fixture(scope="module")
def corpus(repository):
    return repository / "data/notebooks"


@pytest.mark.parametrize("version", ["crashing", "mended"])
def test_each_arm_tells_its_facts_the_control_those_of_another_and_none_what_the_card_says(
    case, version
):
    one, other = case(), case(version=version, pair="other name")
    asked = {arm: one.ask(arm) for arm in ARMS}
    assert {arm: other.ask(arm) for arm in ARMS} == asked
    assert {field.name for field in fields(Question)} == {"executed", "target", "summary"}
    assert asked["code"].summary is None
    for arm in FACTS:
        (entry,) = asked[arm].summary.names.values()
        assert entry.keys() == {arm}
    assert (asked["all"].summary, asked["other"].summary) == (one.summary, one.other)
    assert {question.target for question in asked.values()} == {one.notebook.target}
    with pytest.raises(ValueError, match="only a crash"):
        CrashPrediction(None, "KeyError", "a reason")


def test_a_notebook_that_was_not_observed_as_it_is_is_named(corpus, tmp_path):
    for path in corpus.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "observed.parquet").unlink()
    table = pl.read_parquet(corpus / "observed.parquet")
    changed = pl.col("notebook_sha256").replace(table["notebook_sha256"][0], "0" * 64)
    table.with_columns(changed).write_parquet(tmp_path / "observed.parquet")
    with pytest.raises(BadInputError, match="was not observed as it is"):
        read_cases(tmp_path, SEED)


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


# Small rules.

FRAME = {
    "type": {"kind": "frame", "class": "pandas.core.frame.DataFrame"},
    "structural": {"columns": ["a", "b"], "shape": [3, 2]},
}
KERNEL = {"df": FRAME}


@pytest.mark.parametrize(
    ("target", "executed", "names", "exception"),
    [
        ("x = (1", (), {}, "SyntaxError"),
        ("print(total)", ("totals = 3",), {}, "NameError"),
        ("print(x)", ("x = 1", "del x"), {}, "NameError"),
        ("import numpy as np\nnp.no_such_function(3)", (), {}, "AttributeError"),
        ("d['b']", ("d = {'a': 1}",), {}, "KeyError"),
        ("x[3]", ("x = [1, 2, 3]",), {}, "IndexError"),
        ("a, b = x", ("x = (1, 2, 3)",), {}, "ValueError"),
        # what is not certain
        ("print(total)", ("from somewhere import *",), {}, None),
        ("d['b']", ("d = make()", "d['a'] = 1"), {}, None),
        ("x[3]", ("x = [1, 2, 3]", "x.append(4)"), {}, None),
        ("try:\n    d['b']\nexcept KeyError:\n    pass", ("d = {'a': 1}",), {}, None),
        ("if flag:\n    print(total)", ("flag = read()",), {}, None),
        # the summary says which columns are there
        ("df['c']", (), KERNEL, "KeyError"),
        ("df['a']", (), KERNEL, None),
        ("df['c']", (), {}, "NameError"),
        ("x + 1", ("x = 1",), {"x": None}, "NameError"),  # asked for, and no longer there
        # cells that were executed raised nothing, whatever a rule says
        ("print(total)", ("print(total)", "total = 1"), {}, None),
    ],
)
def test_what_code_and_summary_contradict_is_foreseen(target, executed, names, exception):
    there = {name: entry for name, entry in names.items() if entry is not None}
    summary = Summary(tuple(names), there, truncated=False) if names else None
    assert predict(Question(executed, target, summary)).exception == exception
