from __future__ import annotations

import polars as pl
import pytest

from failbench.neighbours.peers.answers import recorded_answers, skill_answers, verdict
from failbench.neighbours.peers.standards import standards
from failbench.neighbours.peers.verdicts import VERDICT_SCHEMA, Reading
from made_up_telemetry import made_up_telemetry


def test_the_first_issue_with_a_category_is_the_answer():
    reading = Reading(
        ("log:anomaly_nan", "log:cuda_oom", "divergence"), ("critical", "critical", "warning")
    )
    made = verdict(standards()["runmedic"], "run", "text", reading)
    assert (made.category, made.cause) == ("memory_hardware", "batch_exceeds_memory")
    assert made.detected
    assert made.confidence is None


def test_an_issue_without_a_category_is_a_detection_and_an_abstention():
    made = verdict(
        standards()["runmedic"], "run", "text", Reading(("log:anomaly_nan",), ("critical",))
    )
    assert made.detected
    assert made.category is None


def test_a_remark_detects_nothing_and_answers_nothing():
    made = verdict(standards()["runmedic"], "run", "csv", Reading(("overfitting",), ("info",)))
    assert not made.detected
    assert made.category is None


def test_the_skill_answers_from_80_percent_on_and_detects_from_70():
    reading = Reading(("overfitting",), ("low",), (0.75,))
    made = verdict(standards()["ml_training_debugger"], "run", "telemetry", reading)
    assert made.detected
    assert made.category is None


def test_an_issue_that_is_in_no_table_is_an_error():
    with pytest.raises(KeyError):
        verdict(standards()["runmedic"], "run", "csv", Reading(("bad_weather",), ("critical",)))


def test_where_a_peer_cannot_read_it_detects_nothing_and_abstains():
    row = {
        "run_id": "run",
        "format": "text",
        "peer": "runmedic",
        "version": "0.1.1",
        "rendering": "0" * 16,
        "issues": [],
        "severities": [],
        "confidences": [],
        "unreadable": "no metrics",
    }
    (answer,) = recorded_answers(pl.DataFrame([row], schema=VERDICT_SCHEMA)).to_dicts()
    assert answer["prediction"] == "abstain"
    assert not answer["detected"]
    assert not answer["readable"]


def test_a_peer_at_its_most_cautious_detects_less():
    row = {
        "run_id": "run",
        "format": "csv",
        "peer": "training_doctor",
        "version": "0.1.0",
        "rendering": "0" * 16,
        "issues": ["lr_too_low"],
        "severities": ["warning"],
        "confidences": [0.4],
        "unreadable": None,
    }
    table = pl.DataFrame([row], schema=VERDICT_SCHEMA)
    sure = standards()["training_doctor"].strict
    assert recorded_answers(table)["detected"].to_list() == [True]
    assert recorded_answers(table, {"training_doctor": sure})["detected"].to_list() == [False]


def test_the_skill_answers_for_every_run_and_for_one_without_steps():
    telemetry = made_up_telemetry()
    runs = pl.concat([telemetry.runs["run_id"], pl.Series(["no-steps"])])
    answers = skill_answers(telemetry.steps, runs)
    assert sorted(answers["run_id"]) == sorted(runs)
    (empty,) = answers.filter(pl.col("run_id") == "no-steps").to_dicts()
    assert empty["issues"] == []
    assert empty["prediction"] == "abstain"
