from __future__ import annotations

import json

import pytest

from failbench.crashes.language.answer import CRASH, CrashAnswer, predicted, read_crash_answer
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question
from failbench.methods.llm.answer import Unreadable
from made_up_crash_llm import crash_text

QUESTION = Question(("x = {}",), "y = 1\nx[y]\n")


def prediction(**values):
    return predicted(read_crash_answer(crash_text(**values), "stop"), QUESTION)


def test_an_answer_is_a_prediction():
    assert prediction(line=2, explanation="No\n such key.") == CrashPrediction(
        True, "KeyError", "No such key.", 2
    )


def test_of_no_crash_exception_and_line_are_dropped():
    assert prediction(crash=False) == CrashPrediction(False, None, "No such key.")


@pytest.mark.parametrize("line", [None, 0, -1, 3])
def test_a_line_that_the_target_does_not_have_is_dropped(line):
    assert prediction(line=line).line is None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("KeyError", "KeyError"),
        (" sklearn.exceptions.NotFittedError ", "NotFittedError"),
        ("KeyError: 'b'", "KeyError"),
        ("ValueError(shape)", "ValueError"),
        ("a KeyError or so", None),
        ("None", None),
        ("", None),
        (None, None),
    ],
)
def test_an_exception_is_the_name_of_its_class_alone(written, name):
    assert prediction(exception=written).exception == name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("It will crash.", "no_json"),
        (crash_text(crash="perhaps"), "malformed"),
        (crash_text(crash="true"), "malformed"),
        (crash_text(line=1.5), "malformed"),
        (crash_text(verdict="obeyed"), "malformed"),
        ('{"crash": true}', "malformed"),
        (crash_text() * 2, "several_answers"),
    ],
)
def test_what_cannot_be_read_says_nothing(text, reason):
    reading = read_crash_answer(text, "stop")
    assert isinstance(reading, Unreadable)
    assert reading.reason == reason
    answer = predicted(reading, QUESTION)
    assert (answer.crash, answer.exception) == (None, None)
    assert answer.reason.startswith("The answer cannot be read: ")


def test_the_schema_asks_for_every_key_and_no_other():
    assert CRASH.schema["additionalProperties"] is False
    assert set(CRASH.schema["required"]) == set(json.loads(crash_text()))
    assert isinstance(CRASH.read(crash_text(), "stop"), CrashAnswer)
