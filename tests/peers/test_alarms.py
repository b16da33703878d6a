from __future__ import annotations

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.telemetry import RUN_SCHEMA, Telemetry
from failbench.neighbours.peers.alarms import ALARM_SCHEMA, alarm_table, watched
from failbench.neighbours.peers.mapping import refuse_unmapped
from failbench.neighbours.peers.rules import rules_of
from failbench.neighbours.peers.verdicts import VERDICT_SCHEMA
from smooth_run import NAN, PARAMETERS, from_step, healthy


def telemetry():
    broken = healthy(loss=from_step(100, NAN)).with_columns(run_id=pl.lit("broken"))
    runs = pl.DataFrame(
        [
            {"run_id": name, "parameters": PARAMETERS, "kind": "failure"}
            for name in ("broken", "run", "unborn")
        ],
        schema=RUN_SCHEMA,
    )
    return Telemetry(runs, pl.concat([broken, healthy(120)]))


def test_alarms_are_of_the_runs_and_rules_that_fire():
    alarms = alarm_table(telemetry(), (1.0,))
    assert alarms.schema == ALARM_SCHEMA
    assert set(alarms["run_id"]) == {"broken"}
    (row,) = alarms.filter(peer="composer", rule="NaNMonitor").to_dicts()
    assert row["step"] == 100


def alarms_of(*rows):
    return pl.DataFrame(rows, schema=ALARM_SCHEMA, orient="row")


def said(alarms, peer):
    table = watched(alarms, pl.Series("run_id", ["a"]), (1.0,))
    (row,) = table.filter(peer=peer).to_dicts()
    return row


def test_the_first_alarm_detects_and_the_first_that_points_to_a_category_names_it():
    row = said(
        alarms_of(
            ("a", "trainpulse", "LossSpikeDetector", 1.0, 20),
            ("a", "trainpulse", "GradientDetector.explosion", 1.0, 30),
        ),
        "trainpulse",
    )
    assert (row["detected"], row["step"], row["prediction"]) == (True, 20, "optimization")


def test_a_person_checks_a_condition_of_every_rule_and_all_of_the_one_that_decided():
    rules = len(rules_of("sagemaker_debugger"))
    nothing = said(alarms_of(), "sagemaker_debugger")
    assert (nothing["detected"], nothing["conditions"]) == (False, rules)
    two = alarms_of(("a", "sagemaker_debugger", "Overtraining", 1.0, 7))
    assert said(two, "sagemaker_debugger")["conditions"] == rules + 1


def verdicts(peer, issues):
    row = dict.fromkeys(VERDICT_SCHEMA) | {"run_id": "a", "format": "csv", "peer": peer}
    empty = {"severities": [], "confidences": [], "issues": issues}
    return pl.DataFrame([row | empty], schema=VERDICT_SCHEMA)


def test_what_the_mapping_does_not_know_is_one_clear_line():
    with pytest.raises(BadInputError) as unknown:
        refuse_unmapped(verdicts("runmedic", ["overfitting", "bad_weather"]), "x.parquet")
    assert str(unknown.value) == (
        "x.parquet: issues: runmedic says 'bad_weather', which has no mapping. "
        "Add it to src/failbench/neighbours/peers/data/mapping.csv, with a reason."
    )
    with pytest.raises(BadInputError, match="'oracle' is no peer"):
        refuse_unmapped(verdicts("oracle", []), "x.parquet")
