from __future__ import annotations

import math

import pytest

from failbench.methods.llm.answer import EvidenceItem, LlmAnswer
from failbench.methods.llm.faithfulness import Explanation, agrees, explanation_of, is_confirmed
from failbench.methods.llm.prompt import prompt_of
from failbench.methods.llm.record import MonitorRecord, ShownBreak
from made_up_llm import one_run, settings

LOSSES = [5.21, 4.96, 4.41, float("inf"), float("nan"), 0.5]
SHOWN = prompt_of(
    one_run(
        losses=LOSSES,
        error_type="RuntimeError",
        error_message="mat1 and mat2 shapes\ncannot be multiplied (20x48 and 64x256)",
        schedule="linear_warmup",
    ),
    settings(),
).shown


MONITORED = prompt_of(
    one_run(losses=LOSSES),
    settings(),
    MonitorRecord(
        {"end_kind": "exception", "end_phase": "forward"},
        (
            ShownBreak("4", "labels_outside", "12", "Labels."),
            ShownBreak("5", "loss", "88", "Loss."),
        ),
        (),
    ),
).shown


def item(signal: str, value: float | str, step: int | None = None) -> EvidenceItem:
    return EvidenceItem(signal=signal, value=value, step=step)


@pytest.mark.parametrize(
    ("signal", "value"),
    [
        ("loss", 5.21),
        ("loss", 5.2),  # rounded
        ("max loss", "inf"),
        ("loss", "NaN"),
        ("training loss", math.inf),
        ("loss", 3.77),  # the mean of what is finite
        ("memory", 0.58),
        ("memory", "58%"),
        ("gradient_norm", "1.5"),
        ("learning_rate_schedule", "Linear_Warmup"),
        ("error_message", "mat2 shapes cannot be multiplied"),
        ("error_message", "(20X48"),
        ("exception", "runtimeerror"),
        ("parameters", "100"),
    ],
)
def test_values_that_the_record_shows_are_confirmed(signal, value):
    assert is_confirmed(item(signal, value), SHOWN)


@pytest.mark.parametrize(
    ("signal", "value"),
    [
        ("loss", 5.4),
        ("loss", 4),  # taken as 4.0
        ("loss", "rising"),
        ("memory", 5.21),  # another signal's value
        ("gpu temperature", 5.21),
        ("gradient_norm", "NaN"),
        ("error_message", "out of memory"),
        ("error_message", ""),
        ("error_message", "an"),
        ("traceback", "RuntimeError"),  # there is none
        ("width", 48),  # not logged
    ],
)
def test_values_that_it_does_not_show_are_not(signal, value):
    assert not is_confirmed(item(signal, value), SHOWN)


@pytest.mark.parametrize(
    ("cited", "shown", "same"),
    [
        (0.52, 0.5155, True),
        (0.515, 0.5155, True),
        (0.5155, 0.516, False),
        (300.0, 297.3, True),
        (300.0, 290.0, False),
        (-1.2, -1.24, True),
        (-1.2, 1.2, False),
        (1e-5, 1.04e-5, True),
        (0.0, 0.0, True),
        (0.0, 0.001, False),
        (9.9, 10.0, False),
    ],
)
def test_numbers_agree_within_the_digits_that_are_cited(cited, shown, same):
    assert agrees(cited, shown) is same


def answer(category: str, *evidence: EvidenceItem) -> LlmAnswer:
    return LlmAnswer.model_validate(
        {"category": category, "confidence": 0.5, "explanation": "", "evidence": evidence}
    )


def test_evidence_is_counted_by_what_is_there_and_by_what_it_speaks_for():
    cited = (item("loss", 5.2), item("gradient_norm", 9.9), item("memory", 0.5), item("fan", 1.0))
    explanation = explanation_of(answer("optimization", *cited), SHOWN)
    assert explanation == Explanation(items=4, confirmed=2, points=2)
    assert (explanation.confirmed_share, explanation.points_share) == (0.5, 0.5)
    assert explanation_of(answer("memory_hardware", *cited), SHOWN).points == 1


def test_what_the_monitor_shows_is_confirmed_where_it_is_shown():
    for signal, value in (("labels_outside", 12), ("end_phase", "forward"), ("loss", 88.0)):
        assert is_confirmed(item(signal, value), MONITORED)
        assert not is_confirmed(item(signal, value), SHOWN)
    assert not is_confirmed(item("labels_outside", 13), MONITORED)
    # the mean of the steps is of the steps alone
    assert is_confirmed(item("loss", 3.77), MONITORED)
