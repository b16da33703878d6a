"""One failure: everything recorded and said of it, nothing twice."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.verdicts import Diagnosis, Evidence, explained
from failbench.base.vocabulary import PRIMARY_SET
from failbench.features.catalogue import FEATURE_SETS
from failbench.monitor.records.verdicts import END_SCHEMA
from failbench.publish.page.answers import answers_by_scenario
from failbench.publish.page.failure import (
    NOTHING_BROKE,
    LookAlikes,
    Monitored,
    answers_to_logs,
    decided_sentence,
    details,
    explanations,
)
from made_up import made_up_predictions
from made_up_monitored import rules
from made_up_telemetry import ONSET, SCENARIOS, STEPS, made_up_scenarios, made_up_telemetry

REFERENCE = "transformer-adamw"
SOME = "optimization_0"
RUN = f"{SOME}-{REFERENCE}-s0"
INVARIANT = rules().invariants[0]


def alike() -> LookAlikes:
    ids = [scenario.id for scenario in made_up_scenarios()]
    difficulty = pl.DataFrame({"scenario": ids}).with_columns(
        ease=pl.lit(0.5),
        runs=pl.lit(18),
        instead=pl.lit("unknown"),
        instead_share=pl.lit(0.25),
        nearest=pl.lit("unknown_0"),
        neighbours_own=pl.lit(0.2),
    )
    neighbours = pl.DataFrame(
        {"scenario": [SOME] * 2, "rank": [2, 1], "neighbour": ["unknown_1", "unknown_0"]}
    )
    partners = pl.DataFrame({"scenario": [SOME], "partner": ["unknown_3"]})
    return LookAlikes(difficulty, neighbours, partners)


def monitored() -> Monitored:
    end = dict.fromkeys(END_SCHEMA) | {"run_id": RUN, "end_step": 12, "failure_step": 10}
    return Monitored(
        rules(),
        pl.DataFrame(
            {"run_id": [RUN, "another"], "step": [9, 3], "value": [2.0, 1.0]}
        ).with_columns(invariant=pl.lit(INVARIANT.id)),
        pl.DataFrame({"run_id": [RUN], "answer": [INVARIANT.component]}).with_columns(
            decided_by=pl.lit(INVARIANT.id), decided_kind=pl.lit(INVARIANT.kind)
        ),
        pl.DataFrame([end], schema=END_SCHEMA),
    )


@pytest.fixture(scope="module")
def detail():
    predictions = made_up_predictions(scenarios=SCENARIOS).with_columns(method=pl.lit("ebm"))
    failed = (pl.col("scenario") == SOME) & (pl.col("kind") == "failure")
    runs = made_up_telemetry(seeds=2).runs.with_columns(
        error_type=pl.when(failed).then(pl.lit("ValueError")),
        error_message=pl.when(failed).then(pl.lit("x" * 5000)),
    )
    explained = {SOME: {"ebm": {"answer": "unknown", "evidence": ["A sentence."], "left_out": 0}}}
    return details(
        made_up_scenarios(),
        runs,
        answers_by_scenario(predictions),
        explained,
        {},
        monitored(),
        alike(),
        reference=REFERENCE,
        seed=0,
    )


def test_runs_errors_explanations_and_look_alikes_of_a_failure_are_there_once(detail):
    some, other = detail[SOME], detail["unknown_0"]
    assert some["runs"] == {REFERENCE: [[seed, "diverged", ONSET, STEPS - 1] for seed in (0, 1)]}
    assert some["errors"] == [{"text": f"ValueError: {'x' * 5000}", "settings": [REFERENCE]}]
    assert other["errors"] == []
    assert some["answers"][0]["explained"]["evidence"] == ["A sentence."]
    assert "explained" not in other["answers"][0]
    assert some["alike"]["neighbours"] == ["unknown_0", "unknown_1"]  # the nearest first
    assert some["alike"]["partners"] == ["unknown_3"]
    assert other["alike"]["neighbours"] == []


def test_what_broke_is_that_of_the_run_that_is_drawn(detail):
    seen = detail[SOME]["monitor"]
    (broken,) = seen["broken"]
    assert (broken["step"], broken["statement"]) == (9, INVARIANT.statement)
    assert broken["seen"].endswith("is 2")
    assert broken["decided"]
    assert INVARIANT.statement in seen["evidence"]
    assert detail["unknown_0"]["monitor"] is None


def test_answers_to_logs_are_counted_by_kind_of_log():
    given = pl.DataFrame(
        {
            "model": ["log"] * 4 + ["monitor"],
            "format": ["complete", "csv", "csv", "csv", "monitor"],
            "kind": ["failure", "failure", "failure", "twin", "failure"],
            "setting": [REFERENCE] * 5,
            "scenario": [SOME] * 5,
            "category": ["optimization"] * 5,
            "prediction": ["optimization", "optimization", "unknown", "unknown", "optimization"],
            "predicted_cause": ["a", "b", None, "b", "a"],
            "cause": ["a"] * 5,
        }
    )
    rows = {row["label"]: row for row in answers_to_logs(given, REFERENCE)[SOME]}
    assert rows["any log"]["answers"] == 2
    assert rows["any log"]["right"] == 0.5
    assert rows["any log"]["cause_right"] == 0.0
    assert rows["complete log"]["cause_right"] == 1.0
    assert rows["log of the monitor, logic alone"]["share"] == 1.0


END = {"end_step": 30, "end_phase": "backward", "error": "ValueError", "message": "</script>"}


def test_nothing_broken_and_an_ending_that_decided_with_its_error_are_said():
    decided = {"decided_by": None, "decided_kind": None}
    assert decided_sentence(decided, END, pl.DataFrame(), rules()) == NOTHING_BROKE
    ending = rules().endings[0]
    decided = {"decided_by": ending.id, "decided_kind": "ending"}
    text = decided_sentence(decided, END, pl.DataFrame(), rules())
    assert text.endswith(f"{ending.statement} ValueError: </script>")


@pytest.mark.parametrize("method", ["simple_rules", "random_forest"])
def test_conditions_come_back_as_sentences_and_those_left_out_are_counted(method):
    signals = FEATURE_SETS[PRIMARY_SET][:7]
    evidence = tuple(Evidence(name, float(i), "above", 0.5) for i, name in enumerate(signals))
    made = explained([("run", "scenario")], method, [Diagnosis("unknown", 0.5, evidence)])
    section = explanations(*made)["scenario"][method]
    assert section["left_out"] == 2
    assert len(section["evidence"]) == 5
    first = 2 if method == "simple_rules" else 0
    assert f" is {first}, above 0.5." in section["evidence"][0]
