"""What broke in monitored runs, and what the rules make of it, at the end and before."""

import dataclasses
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.scenarios import read_scenarios
from failbench.monitor.diagnosis import diagnose
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import Bound
from failbench.monitor.records.scoring import HALF_SCHEMA, halves
from failbench.monitor.records.verdicts import (
    BREAK_SCHEMA,
    OWN,
    RUNNING,
    VERDICT_SCHEMA,
    break_table,
    ends_of,
    of_bounded_settings,
    verdict_table,
)
from failbench.monitor.signals import SIGNALS
from made_up_monitored import BOUNDS, history, monitored, rules

REPOSITORY = Path(__file__).parents[2]
COMMITTED = REPOSITORY / "data/monitor/halves.csv"
SCENARIOS = read_scenarios(REPOSITORY / "data/scenarios")
CRASH = End("exception", "forward", 59, "RuntimeError", "shapes")


def judged(table, failure_step=59, **changes):
    runs = table.runs["run_id"].to_list()
    detected = pl.DataFrame(
        {"run_id": runs, "failure_step": [failure_step] * len(runs)},
        schema_overrides={"failure_step": pl.Int32},
    )
    used = rules()
    return verdict_table(break_table(table, used), ends_of(table.runs, detected), used, **changes)


def test_a_verdict_says_what_decided_of_which_kind_and_when():
    table = monitored(
        [
            ({"run_id": "logic"}, history(labels_outside={30: 1.0})),
            ({"run_id": "statistic"}, history(blocked_data={30: 9.0})),
            ({"run_id": "symptom"}, history(gradients_nonfinite={30: 1.0})),
            ({"run_id": "ending"}, history(CRASH)),
            ({"run_id": "nothing"}, history()),
        ]
    )
    verdicts = judged(table)
    assert verdicts.schema == VERDICT_SCHEMA
    columns = ("run_id", "answer", "decided_by", "decided_kind", "decided_step", "broken")
    assert sorted(verdicts.select(columns).rows()) == [
        ("ending", "model_software", "error_elsewhere", "ending", 59, 0),
        ("logic", "data_pipeline", "labels_are_classes", "logic", 30, 1),
        ("nothing", "abstain", None, None, None, 0),
        ("statistic", "unknown", "reads_not_blocked", "statistic", 32, 1),
        ("symptom", "optimization", "gradients_finite", "symptom", 30, 1),
    ]


def random_history(seed, steps, end=CRASH):
    generator = np.random.default_rng(seed)
    names = [signal.name for signal in SIGNALS]
    rows = tuple(
        Row(
            step,
            {
                name: float(np.float32(generator.lognormal(0, 1 if step < 20 else 2)))
                for name in names
                if generator.random() < 0.7
            },
        )
        for step in range(steps)
    )
    return History("standard", 10, {}, {}, rows, end)


@pytest.mark.parametrize("seed", range(6))
def test_a_cut_log_is_diagnosed_as_a_log_that_ends_there_in_a_living_run(seed):
    whole = random_history(seed, 60)
    used = rules({"gru-sgd": {name.id: Bound(-1.5, 1.5) for name in rules().invariants}})
    table = monitored([({"run_id": "a"}, whole)])
    detected = pl.DataFrame({"run_id": ["a"], "failure_step": [59]})
    breaks, ends = break_table(table, used), ends_of(table.runs, detected)
    for ahead in (0, 5, 25, 45, None):
        (verdict,) = verdict_table(breaks, ends, used, (ahead,)).to_dicts()
        last = 59 - (ahead or 0)
        cut = dataclasses.replace(
            whole,
            rows=tuple(row for row in whole.rows if row.step <= last),
            end=RUNNING if ahead else CRASH,
        )
        expected = diagnose(cut, used.bounds["gru-sgd"], used.invariants, used.endings)
        assert verdict["answer"] == expected.answer
        assert verdict["broken"] == len(expected.breaks)
        decided = expected.decided_by
        assert verdict["decided_by"] == getattr(decided, "invariant", decided).id


def test_a_run_has_no_verdict_before_it_began_or_where_it_did_not_fail():
    table = monitored([({"run_id": "a"}, history(End("killed", "forward", 40)))])
    assert judged(table, steps_ahead=(0, 40, 41))["steps_ahead"].to_list() == [0, 40]
    healthy = monitored([({"run_id": "a"}, history())])
    used = rules()
    none = pl.DataFrame({"run_id": ["b"], "failure_step": [3]})
    ends = ends_of(healthy.runs, none)
    verdicts = verdict_table(break_table(healthy, used), ends, used, (None, 0))
    assert verdicts["steps_ahead"].to_list() == [None]


def test_a_run_that_was_ended_failed_there_and_any_other_where_it_was_detected():
    table = monitored(
        [
            ({"run_id": "a"}, history(End("out of memory", "forward", 41))),
            ({"run_id": "b"}, history()),
        ]
    )
    detected = pl.DataFrame({"run_id": ["a", "b"], "failure_step": [7, 8]})
    assert ends_of(table.runs, detected)["failure_step"].to_list() == [41, 8]


def test_bounds_are_those_of_the_setting_and_lenders_lend_to_the_others():
    slow = history(blocked_data={30: 9.0})
    table = monitored([({"run_id": "a"}, slow), ({"run_id": "b", "architecture": "t5"}, slow)])
    breaks = break_table(table, rules(), ["gru-sgd"])
    assert breaks.schema == BREAK_SCHEMA
    assert breaks.select("run_id", "bounds").rows() == [("a", OWN), ("b", "gru-sgd")]
    ends = ends_of(table.runs, pl.DataFrame({"run_id": ["a"], "failure_step": [59]}))
    assert ends["setting"].to_list() == ["gru-sgd", "t5-sgd"]
    verdicts = verdict_table(breaks, ends, rules(), bounds=(OWN, "gru-sgd"))
    assert verdicts.select("run_id", "bounds", "answer").rows() == [
        ("a", OWN, "unknown"),
        ("b", OWN, "abstain"),
        ("b", "gru-sgd", "unknown"),
    ]
    with pytest.raises(BadInputError, match="bert-sgd: has no bounds to lend"):
        break_table(table, rules(), ["bert-sgd"])


def test_a_version_can_be_held_to_the_settings_that_it_has_bounds_of():
    table = monitored(
        [
            ({"run_id": "here"}, history()),
            ({"run_id": "there", "architecture": "t5"}, history()),
            ({"run_id": "larger", "scale": "paper"}, history()),
        ]
    )
    here = of_bounded_settings(table, rules({"gru-sgd": BOUNDS}))
    assert set(here.runs["run_id"]) == set(here.signals["run_id"]) == {"here"}


def test_the_committed_halves_are_those_of_the_rule():
    committed = pl.read_csv(COMMITTED, schema=HALF_SCHEMA)
    assert_frame_equal(halves(SCENARIOS), committed)


def test_halves_are_of_equal_size_in_all_and_differ_by_one_scenario_in_a_category():
    table = halves(SCENARIOS)
    assert dict(table["half"].value_counts().iter_rows()) == {"development": 38, "test": 38}
    counts = table.pivot("half", index="category", values="scenario", aggregate_function="len")
    assert (counts["development"].cast(int) - counts["test"].cast(int)).abs().max() == 1
