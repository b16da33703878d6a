"""What is known of a run that hangs, and of one whose limit moved; the same with a monitor."""

from dataclasses import replace

import pytest

from failbench.base.scenarios import FaultDeclaration
from failbench.recording.order import RunOrder
from failbench.recording.sandbox import execute, fork_server
from failbench.recording.signals import compared_steps

ONSET, PLANNED = 6, 24
CAPACITY = 2**26


@pytest.fixture
def order(nominal, seeds, corpus_cache):
    short = replace(nominal, planned_steps=PLANNED, onset_step=ONSET)
    cache = str(corpus_cache)
    return RunOrder("one", "gru", "adamw", "small", "cpu", short, seeds, None, None, None, cache)


def failing(order, name, **parameters):
    declared = FaultDeclaration(name=name, parameters=parameters, onset="mid_run")
    return replace(order, declaration=declared, onset_step=ONSET, capacity_bytes=CAPACITY)


def run(order):
    return execute(fork_server(["failbench.monitor.monitor"]), order, 4.0, 120.0)


@pytest.mark.parametrize(
    "level", [None, pytest.param("standard", marks=pytest.mark.system)], ids=["alone", "monitored"]
)
@pytest.mark.parametrize(("name", "reached"), [("stalled_input", False), ("logger_deadlock", True)])
def test_a_hung_run_has_a_row_of_the_step_in_which_it_hangs(order, name, reached, level):
    report = run(replace(failing(order, name), level=level))
    assert (report.ending, report.exit_signal) == ("timeout", "SIGKILL")
    *others, last = report.steps
    assert [row["step"] for row in report.steps] == [*range(ONSET + 1)]
    assert last["learning_rate"] is not None
    assert (last["loss"] is not None) == (last["tokens"] is not None) == reached
    assert last["memory_bytes"] > 0
    assert last["step_seconds"] > max(row["step_seconds"] for row in others)
    if level is not None:
        assert report.history is not None
        end = report.history.end
        assert (end.kind, end.step) == ("hung", ONSET)
        assert end.phase == ("callback" if reached else "data")


def test_the_limit_of_a_run_is_the_one_that_was_in_force(order):
    report = run(failing(order, "neighbour_takes_memory", steps=8))
    assert report.ending == "exception"
    assert report.capacity_bytes is not None
    last = report.steps[-1]["memory_bytes"]
    assert last / 2 < report.capacity_bytes < CAPACITY


def test_a_limit_that_stays_is_not_another_one(order):
    report = run(failing(order, "batch_too_large", factor=512))
    assert report.ending == "exception"
    assert report.capacity_bytes == CAPACITY


@pytest.mark.parametrize("optimizer", ["adamw", pytest.param("sgd", marks=pytest.mark.system)])
def test_a_monitor_changes_no_step_and_sees_them_all(order, optimizer):
    chosen = replace(order, optimizer=optimizer)
    without, watched = run(chosen), run(replace(chosen, level="full"))
    assert without.history is None
    assert compared_steps(without.steps, watched.steps) == (PLANNED, True)
    history = watched.history
    assert history is not None
    assert history.end.kind == "completed"
    assert set(history.off) == {"ranks_disagree"}
    steps, losses = history.series("loss")
    logged = {row["step"]: row["loss"] for row in watched.steps}
    assert [logged[step] for step in steps] == pytest.approx(list(losses), rel=1e-5)
    assert {0, 10, 20, PLANNED - 1} <= set(steps)


def test_a_log_that_is_read_in_the_meantime_holds_the_steps_before(order):
    looked = replace(order, level="standard", looks=(9,))
    report = run(replace(looked, nominal=replace(order.nominal, planned_steps=40)))
    assert report.history is not None
    rows = {row.step: row.values for row in report.history.rows}
    assert {*range(9)} <= rows.keys()
    assert not {*range(12, 20)} & rows.keys()
    assert all({"loss", "learning_rate", "busy_forward"} <= rows[step].keys() for step in range(9))
    assert "weight_spread" in rows[0], "a check has what is measured at checks"


def test_a_monitor_notes_how_a_run_ended_that_its_memory_ended(order):
    wide = failing(order, "batch_too_large", factor=512)
    report = run(replace(wide, level="full"))
    assert report.ending == "exception"
    assert report.history is not None
    end = report.history.end
    assert (end.kind, end.step) == ("out of memory", ONSET)
