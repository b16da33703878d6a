"""What a model writes is parsed; what it cites is looked up in what it was shown."""

import json
import math

import pytest

from failbench.methods.llm.answer import EvidenceItem, LlmAnswer, Unreadable, read_answer
from failbench.methods.llm.faithfulness import Explanation, agrees, explanation_of, is_confirmed
from failbench.methods.llm.prompt import prompt_of
from failbench.methods.llm.record import SIGNALS, MonitorRecord, ShownBreak, signal_named
from made_up_llm import one_run, settings
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


def test_what_is_no_whole_answer_is_refused_with_its_reason():
    for text, reason in (*UNREADABLE, (GOOD, "cut_off")):
        actual = read_answer(text, "length" if reason == "cut_off" else "stop")
        assert isinstance(actual, Unreadable), text[:80]
        assert actual.reason == reason, text[:80]
        assert actual.detail


LOSSES = [5.21, 4.96, 4.41, float("inf"), float("nan"), 0.5]
MESSAGE = "mat1 and mat2 shapes\ncannot be multiplied (20x48 and 64x256)"
FAILED = one_run(
    losses=LOSSES, error_type="RuntimeError", error_message=MESSAGE, schedule="linear_warmup"
)
SHOWN = prompt_of(FAILED, settings()).shown
BREAKS = (ShownBreak("4", "labels_outside", "12", "Labels."), ShownBreak("5", "loss", "88", "L."))
WATCHED = MonitorRecord({"end_kind": "exception", "end_phase": "forward"}, BREAKS, ())
MONITORED = prompt_of(one_run(losses=LOSSES), settings(), WATCHED).shown


def item(signal, value):
    return EvidenceItem(signal=signal, value=value, step=None)


CONFIRMED = (
    ("loss", 5.21), ("loss", 5.2),  # rounded
    ("max loss", "inf"), ("loss", "NaN"), ("training loss", math.inf),
    ("loss", 3.77),  # the mean of what is finite
    ("memory", 0.58), ("memory", "58%"), ("gradient_norm", "1.5"),
    ("learning_rate_schedule", "Linear_Warmup"), ("exception", "runtimeerror"),
    ("error_message", "mat2 shapes cannot be multiplied"), ("error_message", "(20X48"),
    ("parameters", "100"),
)  # fmt: skip
NOT_SHOWN = (
    ("loss", 5.4), ("loss", 4),  # taken as 4.0
    ("loss", "rising"), ("memory", 5.21),  # another signal's value
    ("gpu temperature", 5.21), ("gradient_norm", "NaN"),
    ("error_message", "out of memory"), ("error_message", ""), ("error_message", "an"),
    ("traceback", "RuntimeError"),  # there is none
    ("width", 48),  # not logged
)  # fmt: skip


def test_values_that_the_record_shows_are_confirmed_and_no_others():
    confirmed = [cited for cited in CONFIRMED + NOT_SHOWN if is_confirmed(item(*cited), SHOWN)]
    assert confirmed == [*CONFIRMED]


@pytest.mark.parametrize(
    ("cited", "shown", "same"),
    [
        (0.52, 0.5155, True), (0.515, 0.5155, True), (0.5155, 0.516, False), (300.0, 297.3, True),
        (300.0, 290.0, False), (-1.2, -1.24, True), (-1.2, 1.2, False), (1e-5, 1.04e-5, True),
        (0.0, 0.0, True), (0.0, 0.001, False), (9.9, 10.0, False),
    ],
)  # fmt: skip
def test_numbers_agree_within_the_digits_that_are_cited(cited, shown, same):
    assert agrees(cited, shown) is same


def test_evidence_is_counted_by_what_is_there_and_by_what_it_speaks_for():
    cited = (item("loss", 5.2), item("gradient_norm", 9.9), item("memory", 0.5), item("fan", 1.0))
    for category, points in (("optimization", 2), ("memory_hardware", 1)):
        values = {"category": category, "confidence": 0.5, "explanation": "", "evidence": cited}
        explanation = explanation_of(LlmAnswer.model_validate(values), SHOWN)
        assert explanation == Explanation(items=4, confirmed=2, points=points)
        assert (explanation.confirmed_share, explanation.points_share) == (0.5, points / 4)


def test_what_the_monitor_shows_is_confirmed_where_it_is_shown():
    for signal, value in (("labels_outside", 12), ("end_phase", "forward"), ("loss", 88.0)):
        assert is_confirmed(item(signal, value), MONITORED)
        assert not is_confirmed(item(signal, value), SHOWN)
    assert not is_confirmed(item("labels_outside", 13), MONITORED)
    # the mean of the steps is of the steps alone
    assert is_confirmed(item("loss", 3.77), MONITORED)


def test_every_signal_is_found_by_its_own_name_and_by_the_aliases_that_no_other_has():
    for signal in SIGNALS:
        assert signal_named(signal.name) is signal
        for alias in signal.aliases:
            first = next(each for each in SIGNALS if alias in (*each.aliases, each.name))
            assert signal_named(alias) is first


@pytest.mark.parametrize(
    ("cited", "name"),
    [
        ("Gradient Norm", "gradient_norm"), ("max_gradient_norm", "gradient_norm"),
        ("gradient-norm at step 120", "gradient_norm"), ("peak memory", "memory"),
        ("memory (fraction)", "memory"), ("max_length", "max_length"),
        ("OOV rate", "unknown_share"), ("error message", "error_message"),
    ],
)  # fmt: skip
def test_signals_are_recognised_as_people_and_models_write_them(cited, name):
    assert signal_named(cited).name == name
