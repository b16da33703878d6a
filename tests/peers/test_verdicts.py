import polars as pl
import pytest

from failbench.neighbours.peers.mapping import standards
from failbench.neighbours.peers.verdicts import (
    VERDICT_SCHEMA,
    Reading,
    recorded_answers,
    verdict_row,
)


def answered(peer, reading, by=None):
    row = verdict_row("run", "csv", peer, "1", "0" * 16, reading)
    (made,) = recorded_answers(pl.DataFrame([row], schema=VERDICT_SCHEMA), by).to_dicts()
    return made


NAN, OOM = "log:anomaly_nan", "log:cuda_oom"


@pytest.mark.parametrize(
    ("peer", "reading", "prediction", "detected"),
    [
        # the first issue with a category is the answer
        (
            "runmedic",
            Reading((NAN, OOM, "divergence"), ("critical", "critical", "warning")),
            "memory_hardware",
            True,
        ),
        # without a category it is a detection
        ("runmedic", Reading((NAN,), ("critical",)), "abstain", True),
        # a remark is neither
        ("runmedic", Reading(("overfitting",), ("info",)), "abstain", False),
        # the skill answers from 80 percent on and detects from 70
        ("ml_training_debugger", Reading(("overfitting",), ("low",), (0.75,)), "abstain", True),
        # where a peer cannot read it detects nothing
        ("runmedic", Reading(unreadable="no metrics"), "abstain", False),
    ],
)
def test_a_verdict_comes_to_a_detection_and_an_answer(peer, reading, prediction, detected):
    made = answered(peer, reading)
    assert (made["prediction"], made["detected"]) == (prediction, detected)
    assert made["readable"] == (reading.unreadable is None)


def test_cause_and_confidence_are_those_of_the_answer_and_the_most_cautious_detects_less():
    reading = Reading((NAN, OOM), ("critical", "critical"))
    made = answered("runmedic", reading)
    assert (made["cause"], made["confidence"]) == ("batch_exceeds_memory", None)
    unsure = Reading(("lr_too_low", "lr_too_high"), ("warning", "warning"), (0.2, 0.4))
    assert answered("training_doctor", unsure)["confidence"] == 0.4
    standard = standards()["training_doctor"]
    sure = {"training_doctor": standard.taken_from(standard.strict_from)}
    low = Reading(("lr_too_low",), ("warning",), (0.4,))
    assert answered("training_doctor", low)["detected"]
    assert not answered("training_doctor", low, sure)["detected"]
    with pytest.raises(KeyError):
        answered("runmedic", Reading(("bad_weather",), ("critical",)))
