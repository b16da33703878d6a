from __future__ import annotations

import json

import pytest

from failbench.methods.llm.answer import LlmAnswer, Unreadable, read_answer
from made_up_ollama import answer_text


@pytest.mark.parametrize(
    "text",
    [
        answer_text(),
        f"```json\n{answer_text()}\n```",
        f"Looking at {{loss}} and {{memory, I say:\n{answer_text()}\nThat is my answer.",
        json.dumps(json.loads(answer_text()), indent=4),
    ],
)
def test_the_single_object_is_parsed_whatever_the_text_around_it(text):
    answer = read_answer(text, "stop")
    assert isinstance(answer, LlmAnswer)
    assert (answer.category, answer.confidence) == ("optimization", 0.8)
    assert [(item.signal, item.value, item.step) for item in answer.evidence] == [("loss", 5.5, 3)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("It is the optimizer.", "no_json"),
        ('["optimization"]', "no_json"),
        (answer_text()[:-3], "no_json"),
        (answer_text() + answer_text("unknown"), "several_answers"),
        (answer_text("hardware"), "wrong_category"),
        (answer_text("abstain"), "wrong_category"),
        (answer_text(confidence=1.2), "malformed"),
        (answer_text(confidence=-0.1), "malformed"),
        (answer_text(confidence=float("nan")), "malformed"),
        (answer_text(evidence="loss"), "malformed"),
        (answer_text(verdict="obeyed"), "malformed"),
        ('{"category": "optimization"}', "malformed"),
        ('{"a":' * 100_000, "malformed"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_reason(text, reason):
    actual = read_answer(text, "stop")
    assert isinstance(actual, Unreadable)
    assert actual.reason == reason
    assert actual.detail


def test_an_answer_that_was_cut_off_is_refused_though_its_json_is_whole():
    assert isinstance(read_answer(answer_text(), "stop"), LlmAnswer)
    actual = read_answer(answer_text(), "length")
    assert isinstance(actual, Unreadable)
    assert actual.reason == "cut_off"
