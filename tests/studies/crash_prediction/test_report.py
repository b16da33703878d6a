"""What was answered: to the committed questions, and with nothing learnt from test pairs."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.crashes.question import ARMS
from failbench.errors import BadInputError
from failbench.studies.crash_prediction.collected import collect
from failbench.studies.crash_prediction.settings import (
    COMBINED,
    DRY_RUN,
    LENGTH,
    RULES,
)


def test_the_dry_run_gives_way_to_the_rules_where_it_cannot_say(answers):
    for arm in ARMS[1:]:
        for run, rule, joined in zip(
            *(answers[name, arm] for name in (DRY_RUN, RULES, COMBINED)), strict=True
        ):
            assert joined == (rule if run.crash is None else run)
    assert answers[COMBINED, "code"] == answers[RULES, "code"]


def test_the_threshold_of_the_length_is_learnt_from_development_alone(cases, answers, recorded):
    """Without any test notebook the threshold is the same."""
    (reason,) = {answer.reason for answer in answers[LENGTH, "code"]}
    assert "development" in reason
    development = [case for case in cases if case.part == "development"]
    again = collect(development, recorded, "answers")
    assert {answer.reason for answer in again[LENGTH, "code"]} == {reason}


def test_an_answer_to_another_question_is_refused(cases, recorded, place):
    changed = recorded.with_columns(
        asked=pl.when(predictor="pylint").then(pl.lit("0" * 64)).otherwise("asked")
    )
    with pytest.raises(BadInputError, match="pylint has no answer"):
        collect(cases, changed, place)
