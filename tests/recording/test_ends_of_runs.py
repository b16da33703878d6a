"""What is known of a run that hangs, and of one whose limit moved; the same with a monitor."""

from dataclasses import replace

import pytest

from failbench.base.scenarios import FaultDeclaration
from failbench.recording.sandbox import execute, fork_server
from failbench.recording.signals import compared_steps

SYSTEM = pytest.mark.system
ONSET, PLANNED = 6, 24
CAPACITY = 2**26


@pytest.fixture
def run(order):
    context = fork_server(["failbench.monitor.monitor"])

    def executed(fault=None, parameters=None, planned=PLANNED, **changes):
        nominal = replace(order.nominal, planned_steps=planned, onset_step=ONSET)
        if fault is not None:
            declared = FaultDeclaration(name=fault, parameters=parameters or {}, onset="mid_run")
            changes |= {"declaration": declared, "onset_step": ONSET, "capacity_bytes": CAPACITY}
        report = execute(context, replace(order, nominal=nominal, **changes), 4.0, 120.0)
        assert (report.history is None) == ("level" not in changes)
        return report

    return executed


@pytest.mark.parametrize("monitored", [{}, pytest.param({"level": "standard"}, marks=SYSTEM)])
@pytest.mark.parametrize(("name", "reached"), [("stalled_input", False), ("logger_deadlock", True)])
def test_a_hung_run_has_a_row_of_the_step_in_which_it_hangs(run, name, reached, monitored):
    report = run(name, **monitored)
    assert (report.ending, report.exit_signal) == ("timeout", "SIGKILL")
    *others, last = report.steps
    assert [row["step"] for row in report.steps] == [*range(ONSET + 1)]
    assert last["learning_rate"] is not None
    assert (last["loss"] is not None) == (last["tokens"] is not None) == reached
    assert last["memory_bytes"] > 0
    assert last["step_seconds"] > max(row["step_seconds"] for row in others)
    if monitored:
        end = report.history.end
        assert (end.kind, end.step) == ("hung", ONSET)
        assert end.phase == ("callback" if reached else "data")


def test_the_limit_of_a_run_is_the_one_that_was_in_force_and_memory_ends_its_log(run):
    report = run("neighbour_takes_memory", {"steps": 8})
    assert report.ending == "exception"
    assert report.steps[-1]["memory_bytes"] / 2 < report.capacity_bytes < CAPACITY
    report = run("batch_too_large", {"factor": 512}, level="full")
    assert (report.ending, report.capacity_bytes) == ("exception", CAPACITY)
    end = report.history.end
    assert (end.kind, end.step) == ("out of memory", ONSET)


@pytest.mark.parametrize("optimizer", ["adamw", pytest.param("sgd", marks=SYSTEM)])
def test_a_monitor_changes_no_step_and_sees_them_all(run, optimizer):
    without, watched = run(optimizer=optimizer), run(optimizer=optimizer, level="full")
    assert compared_steps(without.steps, watched.steps) == (PLANNED, True)
    history = watched.history
    assert history.end.kind == "completed"
    assert set(history.off) == {"ranks_disagree"}
    steps, losses = history.series("loss")
    logged = {row["step"]: row["loss"] for row in watched.steps}
    assert [logged[step] for step in steps] == pytest.approx(list(losses), rel=1e-5)
    assert {0, 10, 20, PLANNED - 1} <= set(steps)


def test_a_log_that_is_read_in_the_meantime_holds_the_steps_before(run):
    report = run(planned=40, level="standard", looks=(9,))
    rows = {row.step: row.values for row in report.history.rows}
    assert {*range(9)} <= rows.keys()
    assert not {*range(12, 20)} & rows.keys()
    assert all({"loss", "learning_rate", "busy_forward"} <= rows[step].keys() for step in range(9))
    assert "weight_spread" in rows[0], "a check has what is measured at checks"

    # recordings are compared in what the machine does not decide
    first = [{"step": step, "loss": loss} for step, loss in enumerate((3.0, float("nan"), None))]
    assert compared_steps(first, [{**row, "memory_bytes": 7} for row in first]) == (3, True)
    assert compared_steps(first, [*first[:2], {"step": 2, "loss": 1.0}]) == (3, False)
