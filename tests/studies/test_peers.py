"""The study of peers: rates of alarms and categories, choices of thresholds, and who is asked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score

from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA, SPLIT_SCHEMA
from failbench.base.scenarios import read_scenarios
from failbench.base.slices import ReferenceStudy
from failbench.base.telemetry import RUN_SCHEMA as ALL_RUNS
from failbench.base.vocabulary import CATEGORIES
from failbench.neighbours.peers.rules import peer_rules
from failbench.neighbours.peers.verdicts import DOCUMENTED, VERDICT_SCHEMA, with_best_thresholds
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.lead import lead_interval
from peers import rate_table
from pipeline import REPOSITORY
from shared.peers import BREAKS, RUN_SCHEMA, SAID_SCHEMA
from shared.peers_answers import (
    MONITORED,
    asked_elsewhere,
    best_formats,
    of_methods,
    of_recorded,
    runs_of,
)

SETTINGS = ScenarioIntervalSettings(
    resamples=1000, confidence=0.95, seed=0, wilson_from=0.9, wilson_below=10
)
SCENARIOS = {f"{category}_{number}": category for category in CATEGORIES for number in range(3)}
FOLDS = pl.DataFrame(
    [(0, number % 3, name) for number, name in enumerate(SCENARIOS)],
    schema=SPLIT_SCHEMA,
    orient="row",
)


def made_up_runs():
    rows = []
    for scenario, category in SCENARIOS.items():
        of_run = {"scenario": scenario, "category": category, "failure_step": 200}
        for seed in (0, 1):
            name = f"{scenario}-s{seed}"
            failing = {"kind": "failure", "onset_step": 100, "ends_itself": category == "unknown"}
            rows.append(of_run | failing | {"run_id": name, "seed": seed})
            twin = {"kind": "twin", "ends_itself": False}
            rows.append(of_run | twin | {"run_id": f"{name}-twin", "seed": seed})
    success = {"kind": "success", "seed": 0, "ends_itself": False}
    rows += [success | {"run_id": f"success-{number}"} for number in range(4)]
    return pl.DataFrame(rows, schema=RUN_SCHEMA)


RUNS = made_up_runs()
PAIRS = RUNS.filter(pl.col("kind") != "success")


def said(detected, prediction="abstain", step=150, choice=DOCUMENTED):
    """What a method says of every run: each a function of a run, or the same of all."""

    def of(value, run):
        return value(run) if callable(value) else value

    rows = [
        {
            "method": "umlaut",
            "choice": choice,
            "repeat": 0,
            "run_id": run["run_id"],
            "detected": of(detected, run),
            "step": of(step, run) if of(detected, run) else None,
            "prediction": of(prediction, run),
            "conditions": 4.0,
        }
        for run in RUNS.to_dicts()
    ]
    return pl.DataFrame(rows, schema=SAID_SCHEMA)


def is_failing(run):
    return run["kind"] == "failure"


def rates(table):
    return {row["metric"]: row for row in rate_table(table, RUNS, SETTINGS).to_dicts()}


def test_who_alarms_what_fails_gains_all_who_alarms_everything_nothing():
    found = rates(said(is_failing))
    assert found["detected"]["value"] == found["gain"]["value"] == found["f1"]["value"] == 1.0
    assert found["alarm_twin"]["value"] == found["alarm_success"]["value"] == 0.0
    assert (found["alarm_twin"]["n"], found["alarm_success"]["n"]) == (30, 4)
    found = rates(said(True))
    assert found["detected"]["value"] == found["alarm_twin"]["value"] == 1.0
    assert found["gain"]["value"] == 0.0
    assert found["f1"]["value"] == pytest.approx(2 / 3)


def test_f1_is_that_of_scikit_learn():
    table = said(lambda run: run["kind"] != "success" and sum(run["run_id"].encode()) % 3 == 0)
    of_pairs = table.join(PAIRS, on="run_id")
    expected = f1_score(of_pairs["kind"] == "failure", of_pairs["detected"])
    assert 0 < expected < 1
    assert rates(table)["f1"]["value"] == pytest.approx(expected)


def test_the_median_lead_is_that_of_numpy():
    rng = np.random.default_rng(3)
    steps = {run: int(rng.integers(0, 200)) for run in RUNS["run_id"]}
    table = said(is_failing, step=lambda run: steps[run["run_id"]])
    failing = table.join(RUNS.filter(kind="failure"), on="run_id")
    interval = lead_interval(failing, SETTINGS)
    leads = (failing["failure_step"] - failing["step"]).to_numpy()
    assert interval.value == np.quantile(leads, 0.5, method="inverted_cdf")
    assert interval.ci_low <= interval.value <= interval.ci_high
    assert interval.n == len(SCENARIOS)


def test_the_best_choice_is_taken_and_of_equals_what_is_documented():
    table = pl.concat([said(True), said(is_failing, choice="× 2"), said(False, choice="× 5")])
    best = with_best_thresholds(table, RUNS, FOLDS, "best_detection")
    assert set(best["choice"]) == {"× 2"}
    assert best.join(PAIRS, on="run_id", how="semi").height == 60
    assert best.height == 60 + 3 * 4
    table = pl.concat([said(is_failing), said(True, "optimization", choice="× 0.1")])
    best = with_best_thresholds(table, RUNS, FOLDS, "best_category")
    assert set(best["choice"]) == {"× 0.1"}
    table = pl.concat([said(is_failing, choice="× 0.1"), said(is_failing)])
    best = with_best_thresholds(table, RUNS, FOLDS, "best_detection")
    assert set(best["choice"]) == {DOCUMENTED}


def test_a_choice_is_never_made_on_the_scenarios_that_it_is_judged_on():
    first = set(FOLDS.filter(fold=0)["scenario"])
    of_first = said(lambda run: is_failing(run) and run["scenario"] in first, choice="× 2")
    best = with_best_thresholds(pl.concat([said(False), of_first]), RUNS, FOLDS, "best_detection")
    chosen = dict(best.group_by("fold").agg(pl.col("choice").first()).iter_rows())
    assert chosen == {0: DOCUMENTED, 1: "× 2", 2: "× 2"}


def test_folds_that_lack_a_scenario_are_refused():
    lacking = FOLDS.filter(pl.col("scenario") != "unknown_2")
    with pytest.raises(BadInputError, match="'unknown_2' is tested in no fold"):
        with_best_thresholds(said(True), RUNS, lacking, "best_detection")


def test_committed_tools_have_the_rates_of_the_study_of_logs_and_alarms_are_of_known_rules():
    metrics = {
        name: json.loads((REPOSITORY / f"data/metrics/{name}.json").read_text(encoding="utf-8"))
        for name in ("peers", "diagnose_logs")
    }
    for tool in ("runmedic", "training_doctor", "ml_training_debugger", "failbench_diagnose"):
        for metric in ("accuracy", "detected", "alarm_twin", "alarm_success"):
            of_logs = metrics["diagnose_logs"]["peers"][tool][metric]
            assert metrics["peers"]["rates"][DOCUMENTED][tool][metric] == of_logs
    alarms = pl.read_parquet(REPOSITORY / "data/measurements/peers/alarms.parquet")
    known = {(rule.peer, rule.name) for rule in peer_rules() if rule.applies}
    assert set(alarms.select("peer", "rule").unique().iter_rows()) <= known


def verdict(run_id, issue=None, peer="default_plus_plus", form="inside_training", **more):
    return dict.fromkeys(VERDICT_SCHEMA) | {
        "run_id": run_id,
        "format": form,
        "peer": peer,
        "issues": [issue] if issue else [],
        "severities": ["faulty"] if issue else [],
        "confidences": [0.9] if issue else [],
        **more,
    }


GIVEN_LOGS = pl.DataFrame(
    [
        verdict("a", peer="runmedic", form="csv"),
        verdict("b", peer="runmedic", form="csv"),
        verdict("a", "log:cuda_oom", "runmedic", "mlflow", severities=["critical"]),
        verdict("b", "overfitting", "runmedic", "mlflow", severities=["info"]),
        verdict("elsewhere", "divergence", "runmedic", "mlflow", severities=["critical"]),
    ],
    schema=VERDICT_SCHEMA,
)
OF_A_PAIR = pl.DataFrame(
    [
        {"run_id": "a", "kind": "failure", "scenario": "s", "category": "memory_hardware"},
        {"run_id": "b", "kind": "twin", "scenario": "s", "category": "memory_hardware"},
        {"run_id": "c", "kind": "success"},
    ],
    schema=RUN_SCHEMA,
)


def test_a_tool_is_taken_in_its_best_format_and_tried_from_each_severity_on():
    best = best_formats(GIVEN_LOGS, OF_A_PAIR)
    assert (set(best["format"]), set(best["run_id"])) == ({"mlflow"}, {"a", "b"})
    table = of_recorded(best)
    assert table["step"].null_count() == table.height
    twin = {row["choice"]: row["detected"] for row in table.filter(run_id="b").to_dicts()}
    assert not twin[DOCUMENTED]
    assert twin["from info on"]
    assert not twin["from critical on"]


def test_the_monitor_alarms_where_something_broke_and_other_methods_are_told():
    predictions = pl.DataFrame(
        [
            dict.fromkeys(PREDICTION_SCHEMA)
            | {"method": method, "repeat": 0, "run_id": "a", "prediction": "optimization"}
            for method in ("simple_rules", MONITORED)
        ],
        schema=PREDICTION_SCHEMA,
    )
    breaks = pl.DataFrame([{"run_id": "a", "first_break": 7}], schema=BREAKS)
    table = of_methods(predictions, breaks, OF_A_PAIR)
    of_monitor = table.filter(method=MONITORED).sort("run_id").select("detected", "step").rows()
    assert of_monitor == [(True, 7), (False, None), (False, None)]
    assert table.filter(method="simple_rules")["detected"].to_list() == [None]
    with pytest.raises(BadInputError, match="judged none of the runs"):
        of_methods(predictions, BREAKS.to_frame(), OF_A_PAIR)


def test_a_run_whose_scenario_is_not_defined_and_no_run_at_all_are_refused():
    setting = {"architecture": "transformer", "optimizer": "adamw", "scale": "small"}
    reference = ReferenceStudy(**setting, run_seeds=(0,), seed=0)
    run = {"run_id": "a", "kind": "failure", "scenario": "lost", "ending": "completed", "seed": 0}
    table = pl.DataFrame([setting | run], schema=ALL_RUNS)
    with pytest.raises(BadInputError, match="'lost' was recorded and is not defined"):
        runs_of(table, (), reference)
    with pytest.raises(BadInputError, match="no failing run of transformer is there"):
        runs_of(table.clear(), (), reference)


DEFINED = read_scenarios(Path(REPOSITORY) / "data/scenarios")
OF_MODEL = [each.id for each in DEFINED if each.category == "model_software"][:4]
REFERENCE = pl.DataFrame([{"run_id": "reference", "kind": "failure"}], schema=RUN_SCHEMA)
ALL, IN_BERT = "default_plus_plus:distilbert-adamw", "default_plus_plus:bert-adamw"
READ = f"{ALL}:read"


def recorded(architecture="distilbert"):
    """Four pairs of a setting; the first two failing runs crashed."""
    rows = []
    for number, scenario in enumerate(OF_MODEL):
        setting = {"architecture": architecture, "optimizer": "adamw"}
        run = dict.fromkeys(ALL_RUNS) | setting | {"scenario": scenario, "seed": 0}
        name, ending = f"{scenario}-{architecture}", "exception" if number < 2 else "completed"
        rows.append(run | {"run_id": name, "kind": "failure", "ending": ending})
        rows.append(run | {"run_id": f"{name}-twin", "kind": "twin", "ending": "completed"})
    return pl.DataFrame(rows, schema=ALL_RUNS)


def asked(runs, more=()):
    """Who says that every run that came to its end is faulty, and cannot read the others."""
    rows = [
        verdict(row["run_id"], "qkv")
        if row["ending"] == "completed"
        else verdict(row["run_id"], unreadable="It ended.")
        for row in runs.to_dicts()
    ]
    verdicts = pl.DataFrame([*rows, *more], schema=VERDICT_SCHEMA)
    return asked_elsewhere(verdicts, REFERENCE, runs, DEFINED)


def test_what_a_tool_could_not_read_is_not_detected_and_what_it_read_has_figures_of_its_own():
    table, runs, _ = asked(recorded())
    rows = rate_table(table, runs, SETTINGS).to_dicts()
    found = {(row["method"], row["metric"]): (row["value"], row["n"]) for row in rows}
    assert found[ALL, "detected"] == (0.5, 4)
    assert found[READ, "detected"] == (1.0, 2)
    assert (found[READ, "accuracy"][0], found[READ, "alarm_twin"][1]) == (1.0, 4)
    # a pair of which one run was not read is no pair
    assert found[READ, "gain"][0] == 0.0
    assert found[READ, "f1"][0] == pytest.approx(2 / 3)


def test_a_run_that_was_not_recorded_is_refused():
    with pytest.raises(BadInputError, match="asked about 'nowhere', which was not recorded"):
        asked(recorded(), [verdict("nowhere")])
