"""What the study has written, held against what it is made of."""

from __future__ import annotations

import json

import polars as pl

from failbench.peers.alarms import ALARM_SCHEMA
from failbench.peers.rules import peer_rules
from pipeline import REPOSITORY

METRICS = json.loads((REPOSITORY / "data/metrics/peers.json").read_text(encoding="utf-8"))


def test_tools_have_the_rates_that_the_study_of_logs_prints():
    logs = json.loads((REPOSITORY / "data/metrics/diagnose_logs.json").read_text(encoding="utf-8"))
    for tool in ("runmedic", "training_doctor", "ml_training_debugger", "failbench_diagnose"):
        for metric in ("accuracy", "detected", "alarm_twin", "alarm_success"):
            assert METRICS["rates"]["documented"][tool][metric] == logs["peers"][tool][metric]


def test_alarms_are_of_rules_that_apply():
    path = REPOSITORY / "data/measurements/peers/alarms.parquet"
    alarms = pl.read_parquet(path)
    assert alarms.schema == ALARM_SCHEMA
    known = {(rule.peer, rule.name) for rule in peer_rules() if rule.applies}
    assert set(alarms.select("peer", "rule").unique().iter_rows()) <= known


def test_the_tool_that_is_called_in_trainings_is_judged_on_every_pair_that_it_was_asked_about():
    rates = METRICS["rates"]["documented"]
    for setting in ("distilbert-adamw", "bert-adamw"):
        of_setting = rates[f"default_plus_plus:{setting}"]
        assert of_setting["detected"]["n"] == of_setting["alarm_twin"]["n"] == 76
    assert rates["default_plus_plus:distilbert-adamw:read"]["detected"]["n"] == 36
