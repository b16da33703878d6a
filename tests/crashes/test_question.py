"""Arms: what each tells, and that no question tells what happened."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import ARMS, Question
from failbench.notebooks.summaries import FACTS


def test_code_alone_tells_nothing_of_the_kernel(case):
    assert case().ask("code").summary is None


@pytest.mark.parametrize("arm", FACTS)
def test_an_arm_of_one_class_has_no_fact_of_another(case, arm):
    (entry,) = case().ask(arm).summary.names.values()
    assert entry.keys() == {arm}


def test_all_three_are_the_summary_as_it_was_observed(case):
    assert case().ask("all").summary == case().summary


def test_the_control_has_the_facts_of_another_notebook(case):
    assert case().ask("other").summary == case().other
    assert case().ask("other").target == case().ask("all").target


@pytest.mark.parametrize("arm", ARMS)
def test_a_question_is_the_same_whatever_the_card_says_but_for_the_target(case, arm):
    crashing, mended = case(version="crashing"), case(version="mended", pair="other name")
    assert crashing.ask(arm) == mended.ask(arm)


def test_a_question_has_code_and_summary_alone():
    assert {field.name for field in fields(Question)} == {"executed", "target", "summary"}


def test_only_a_crash_has_an_exception():
    with pytest.raises(ValueError, match="only a crash"):
        CrashPrediction(None, "KeyError", "a reason")
    assert asdict(CrashPrediction(True, "KeyError", "a reason", 2))["line"] == 2
