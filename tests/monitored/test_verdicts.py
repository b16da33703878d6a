"""What was measured comes back from tables as a log would hold it, and is judged."""

import dataclasses
import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.scenarios import read_scenarios
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import Bound
from failbench.monitor.records.first_break import diagnose
from failbench.monitor.records.scoring import HALF_SCHEMA, halves
from failbench.monitor.records.tables import histories, read_monitored, write_monitored
from failbench.monitor.records.verdicts import (
    BREAK_SCHEMA,
    OWN,
    RUNNING,
    break_table,
    ends_of,
    verdict_table,
)
from failbench.monitor.signals import SIGNALS
from made_up_monitored import history, monitored, rules

CRASH = End("exception", "forward", 59, "RuntimeError", "shapes")
ROWS = (Row(0, {"loss": 6.5, "token_min": -1.0}), Row(10, {"loss": math.nan, "labels_next": 1.0}))
SHORT = History("standard", 10, {"vocabulary": 500.0}, {"ranks_disagree": "one"}, ROWS, CRASH)


def short(*run_ids, **keys):
    return monitored([({"run_id": run_id, **keys}, SHORT) for run_id in run_ids])


def test_a_history_comes_back_with_what_was_undefined_and_without_what_was_not_measured(tmp_path):
    write_monitored(tmp_path, "gru-sgd", short("b", "a"))
    read = list(histories(read_monitored(tmp_path)))
    assert [run["run_id"] for run, _ in read] == ["a", "b"]
    for _, again in read:
        assert again.end == CRASH
        assert (again.level, again.every, again.off) == ("standard", 10, {"ranks_disagree": "one"})
        assert [row.step for row in again.rows] == [0, 10]
        assert again.rows[0].values == ROWS[0].values
        assert set(again.rows[1].values) == {"loss", "labels_next"}
        assert math.isnan(again.rows[1].values["loss"])


def test_runs_recorded_again_replace_themselves_alone(tmp_path):
    write_monitored(tmp_path, "gru-sgd", short("a", "b", kind="twin"))
    write_monitored(tmp_path, "gru-adamw", short("c", kind="failure"))
    write_monitored(tmp_path, "gru-sgd", short("b", kind="failure"))
    read = read_monitored(tmp_path)
    kinds = {"a": "twin", "b": "failure", "c": "failure"}
    assert dict(read.runs.select("run_id", "kind").rows()) == kinds
    assert read.signals.height == 6
    assert read.select(pl.col("run_id") == "a").signals.height == 2

    # a run that ended before its first step has no measurements
    early = History("standard", 10, {}, {}, (), End("exception", "build", 0, "ValueError", ""))
    write_monitored(tmp_path / "early", "gru-sgd", monitored([({"run_id": "a"}, early)]))
    ((run, again),) = histories(read_monitored(tmp_path / "early"))
    assert (run["message"], again.end.message, again.rows) == (None, "", ())


def detected(**steps):
    return pl.DataFrame(
        {"run_id": list(steps), "failure_step": pl.Series(list(steps.values()), dtype=pl.Int32)}
    )


def judged(table, failures, *changes):
    used = rules()
    return verdict_table(break_table(table, used), ends_of(table.runs, failures), used, *changes)


@pytest.mark.parametrize("seed", range(6))
def test_a_cut_log_is_diagnosed_as_a_log_that_ends_there_in_a_living_run(seed):
    rng = np.random.default_rng(seed)

    def values(step):
        drawn = {one.name: rng.lognormal(0, 1 if step < 20 else 2) for one in SIGNALS}
        return {
            name: float(np.float32(value)) for name, value in drawn.items() if rng.random() < 0.7
        }

    rows = tuple(Row(step, values(step)) for step in range(60))
    whole = History("standard", 10, {}, {}, rows, CRASH)
    used = rules({"gru-sgd": {name.id: Bound(-1.5, 1.5) for name in rules().invariants}})
    table = monitored([({"run_id": "a"}, whole)])
    breaks, ends = break_table(table, used), ends_of(table.runs, detected(a=59))
    for ahead in (0, 5, 25, 45, None):
        (verdict,) = verdict_table(breaks, ends, used, (ahead,)).to_dicts()
        seen = tuple(row for row in rows if row.step <= 59 - (ahead or 0))
        cut = dataclasses.replace(whole, rows=seen, end=RUNNING if ahead else CRASH)
        expected = diagnose(cut, used.bounds["gru-sgd"], used.invariants, used.endings)
        decided = getattr(expected.decided_by, "invariant", expected.decided_by)
        found = verdict["answer"], verdict["broken"], verdict["decided_by"]
        assert found == (expected.answer, len(expected.breaks), decided.id)


def test_a_run_has_no_verdict_before_it_began_or_where_it_did_not_fail():
    table = monitored([({"run_id": "a"}, history(End("killed", "forward", 40)))])
    assert judged(table, detected(a=59), (0, 40, 41))["steps_ahead"].to_list() == [0, 40]
    healthy = monitored([({"run_id": "a"}, history())])
    assert judged(healthy, detected(b=3), (None, 0))["steps_ahead"].to_list() == [None]


def test_bounds_are_those_of_the_setting_and_lenders_lend_to_the_others():
    slow = history(blocked_data={30: 9.0})
    table = monitored([({"run_id": "a"}, slow), ({"run_id": "b", "architecture": "t5"}, slow)])
    breaks = break_table(table, rules(), ["gru-sgd"])
    assert breaks.schema == BREAK_SCHEMA
    assert breaks.select("run_id", "bounds").rows() == [("a", OWN), ("b", "gru-sgd")]
    ends = ends_of(table.runs, detected(a=59))
    assert ends["setting"].to_list() == ["gru-sgd", "t5-sgd"]
    verdicts = verdict_table(breaks, ends, rules(), bounds=(OWN, "gru-sgd"))
    expected = [("a", OWN, "unknown"), ("b", OWN, "abstain"), ("b", "gru-sgd", "unknown")]
    assert verdicts.select("run_id", "bounds", "answer").rows() == expected
    with pytest.raises(BadInputError, match="bert-sgd: has no bounds to lend"):
        break_table(table, rules(), ["bert-sgd"])


def test_the_committed_halves_are_those_of_the_rule_and_of_equal_size(repository):
    table = halves(read_scenarios(repository / "data/scenarios"))
    committed = pl.read_csv(repository / "data/monitor/halves.csv", schema=HALF_SCHEMA)
    assert_frame_equal(table, committed)
    assert dict(table["half"].value_counts().iter_rows()) == {"development": 38, "test": 38}
    counts = table.pivot("half", index="category", values="scenario", aggregate_function="len")
    assert (counts["development"].cast(int) - counts["test"].cast(int)).abs().max() == 1
