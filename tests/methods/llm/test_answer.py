import json

import pytest

from failbench.methods.llm.answer import LlmAnswer, Unreadable, read_answer
from made_up_ollama import answer_text

GOOD = answer_text()


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Looking at {{loss}} and {{memory, I say:\n{GOOD}\nThat is my answer.",
        json.dumps(json.loads(GOOD), indent=4),
    ],
)
def test_the_single_object_is_parsed_whatever_the_text_around_it(text):
    answer = read_answer(text, "stop")
    assert isinstance(answer, LlmAnswer)
    assert (answer.category, answer.confidence) == ("optimization", 0.8)
    assert [(item.signal, item.value, item.step) for item in answer.evidence] == [("loss", 5.5, 3)]


UNREADABLE = [
    ("", "empty"), (" \n\t", "empty"), ("It is the optimizer.", "no_json"),
    ('["optimization"]', "no_json"), (GOOD[:-3], "no_json"),
    (GOOD + answer_text("unknown"), "several_answers"),
    (answer_text("hardware"), "wrong_category"), (answer_text("abstain"), "wrong_category"),
    (answer_text(confidence=1.2), "malformed"), (answer_text(confidence=-0.1), "malformed"),
    (answer_text(confidence=float("nan")), "malformed"), ('{"a":' * 100_000, "malformed"),
    (answer_text(verdict="obeyed"), "malformed"), ('{"category": "optimization"}', "malformed"),
    (answer_text(evidence="loss"), "malformed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "end", "reason"),
    [*((text, "stop", reason) for text, reason in UNREADABLE), (GOOD, "length", "cut_off")],
)
def test_what_is_no_whole_answer_is_refused_with_its_reason(text, end, reason):
    actual = read_answer(text, end)
    assert isinstance(actual, Unreadable)
    assert actual.reason == reason
    assert actual.detail
