"""Answers to logs of others are held against simpler ones, other tools and what looks said."""

import json

import polars as pl
import pytest

from failbench.diagnose.known import KnownLog
from failbench.diagnose.signs import Sign
from failbench.diagnose.words import counted
from failbench.field import looks
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from shared.diagnose_logs import ALL, MESSAGES, OUTSIDE_SCHEMA, SYMPTOM, WORDS
from shared.outside import COMMONEST, outside_table, totals_of_looks, with_others, wrong_answers
from shared.simpler import curves_alone, simple_answers, symptom_of
from study_settings import INTERVALS

DEATH = Sign("message", "killed_for_memory")
ERROR = Sign("event", "exception")
WARNING = Sign("message", "first", category="optimization", is_warning=True)
KNOWN = Sign("message", "second", category="data_pipeline")
LOST = Sign("check", "loss_not_finite", amount=2.0)
UNMEASURED = Sign("unmeasured", "nan_from_start")


@pytest.mark.parametrize(
    ("signs", "symptom"),
    [
        ([DEATH, ERROR, LOST], "death"),
        ([ERROR, LOST], "exception"),
        ([Sign("event", "at_start"), WARNING, LOST], "not finite"),
        ([WARNING, UNMEASURED, Sign("check", "loss_not_finite", amount=0.0)], "nothing"),
    ],
)
def test_the_symptom_is_what_a_log_ends_with(signs, symptom):
    assert symptom_of(signs) == symptom


def known(category, group, *signs, setting="field"):
    about = (f"{group} {category} {len(signs)}", setting, group, counted("x"))
    return KnownLog(signs, category, None, *about, teaches_words=True)


def test_a_symptom_is_learnt_from_other_authors_of_one_corpus():
    logs = [
        known("data_pipeline", "a", ERROR),
        known("data_pipeline", "a", ERROR),
        known("optimization", "b", ERROR),
        known("optimization", "b", LOST),
        known("unknown", "c", ERROR, setting="reports"),
        known(None, "b"),
    ]
    said = [row["prediction"] for row in simple_answers(logs) if row["learnt"] == SYMPTOM]
    # of a's only b's one error is known, of b's two those of a; a corpus of one author says nothing
    assert said[:3] == ["optimization", "optimization", "data_pipeline"]
    assert said[3] == "data_pipeline"  # nobody else met that, and the commonest of all is left
    assert said[4] == "abstain"


def test_the_first_error_that_is_known_counts_before_a_warning():
    logs = [
        known("optimization", "a", WARNING, KNOWN),
        known("unknown", "b", WARNING),
        known("unknown", "c"),
    ]
    said = [row for row in simple_answers(logs) if row["learnt"] == MESSAGES]
    assert [row["prediction"] for row in said] == ["data_pipeline", "optimization", "abstain"]
    assert [row["alarm"] for row in said] == [True, False, False]


def test_curves_alone_have_no_word():
    alone = curves_alone(known("optimization", "a", WARNING, KNOWN, ERROR, LOST, UNMEASURED))
    assert alone.signs == (LOST, UNMEASURED)
    assert not len(alone.words.bins)


def answer(log, category, prediction, confidence=0.8, **facts):
    row = {
        "learnt": ALL, "corpus": "field", "log": log, "group": log, "part": "curves",
        "category": category, "cause": None, "alarm": True, "prediction": prediction,
        "confidence": confidence, "predicted_cause": "overfitting", "cause_confidence": 0.5,
        "next_causes": ["overfitting"],
    }  # fmt: skip
    return row | facts


def test_the_surest_wrong_answers_are_shown_one_of_each_pair_and_author(tmp_path):
    field, reports = tmp_path / "field", tmp_path / "reports"
    reports.mkdir()
    table = (
        "report,source,category,cause,can_be_told\nr1,owner/name#1,optimization,overfitting,yes\n"
    )
    (reports / "index.csv").write_text(table)
    for name in ("one", "two", "three", "four"):
        folder = field / "development/author_1" / name
        folder.mkdir(parents=True)
        card = {"id": name, "author": "author_1", "library": "torch", "task": "x", "met_by": []}
        card |= {"cause": f"It is {name}.", "category": "optimization", "kind": "curves"}
        card |= {"ending": {"how": "completed"}, "symptom": None}
        card |= {"healthy": {"metric": "loss", "is": "ends_below", "bound": 1.0}}
        (folder / "card.json").write_text(json.dumps(card))
    (field / "lessons.csv").write_text("log,why\nr1,It looked alike.\nauthor_1/gone,It was so.\n")
    rows = [
        answer("author_1/one", "optimization", "data_pipeline", 0.7, group="a"),
        answer("author_1/two", "optimization", "data_pipeline", 0.6, group="b"),  # the same pair
        answer("author_1/three", "optimization", "unknown", 0.5, group="a"),  # the same author
        answer("author_1/four", "optimization", "optimization", 0.9, group="c"),  # right
        answer("r1", "optimization", "model_software", 0.9, corpus="reports", group="a"),
        answer("author_1/one", "optimization", "unknown", 0.99, learnt="benchmark", group="d"),
    ]
    shown = wrong_answers(pl.DataFrame(rows, OUTSIDE_SCHEMA), field, reports)
    assert shown["log"].to_list() == ["r1", "author_1/one"]
    assert shown["source"].to_list() == ["owner/name#1", "author_1/one"]
    assert shown["sentence"][1] == "It is one."
    assert shown["why"].to_list() == ["It looked alike.", None]


def test_other_tools_are_asked_about_the_same_logs_and_words_answer_no_more_than_a_category():
    rows = [
        answer("a", "optimization", "optimization", cause="overfitting"),
        answer("b", "data_pipeline", "optimization"),
        answer("c", "data_pipeline", "data_pipeline"),
        answer("d", None, "optimization"),
    ]
    rows += [row | {"learnt": WORDS} for row in rows]
    said = [("a", "optimization", True), ("b", "abstain", False), ("d", "abstain", True)]
    peers = pl.DataFrame(
        [("tool", "1", "field", *each[:2], each[2], True) for each in said],
        ["peer", "version", "corpus", "log", "prediction", "detected", "readable"],
        orient="row",
    )
    rows[-3]["prediction"] = "data_pipeline"  # of b, where the whole is wrong
    table = outside_table(with_others(pl.DataFrame(rows, OUTSIDE_SCHEMA), peers), INTERVALS)
    found = {(r["learnt"], r["metric"]): (round(r["value"], 3), r["n"]) for r in table.to_dicts()}
    assert found["tool", "accuracy"] == (0.5, 2)
    assert found["tool", "named"] == (0.5, 2)
    assert found["tool", "alarm"] == (1.0, 1)
    assert found[COMMONEST, "accuracy"] == (0.667, 3)
    assert found[ALL, "cause_accuracy"] == (1.0, 1)
    assert found[WORDS, "gain"] == (-0.333, 3)  # of all, on the same logs
    assert {metric for learnt, metric in found if learnt == WORDS} == {
        "accuracy", "accuracy_curves", "named", "named_accuracy", "gain", "gain_curves",
    }  # fmt: skip


def test_a_look_is_what_its_answers_come_to(tmp_path):
    intervals = read_statistics(ScenarioIntervalSettings)
    (tmp_path / "looks.csv").write_text("look,date,commit\n")
    looks.TABLE.write(tmp_path / "test/answers.parquet", [])
    assert totals_of_looks(tmp_path, intervals).is_empty()
    row = {
        "look": 1, "program": "p", "run": "run", "kind": "curves", "category": "optimization",
        "cause": None, "asked": "told", "status": "failed", "prediction": "optimization",
        "likeliest": "optimization", "level": "high", "causes": [], "found": True,
    }  # fmt: skip
    answers = pl.DataFrame(
        [row, row | {"program": "q", "prediction": "abstain"}], looks.TABLE.schema
    )
    totals = looks.totals_of(answers, intervals)
    looks.keep(tmp_path, {"look": 1, "date": "2026-11-27", "commit": "c0ffee"}, answers, totals)
    seen = totals_of_looks(tmp_path, intervals)
    assert (seen.filter(metric="accuracy")["value"].item(), set(seen["commit"])) == (
        0.5,
        {"c0ffee"},
    )
