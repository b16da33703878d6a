"""The parent's side: whatever a child does, it is recorded and hurts nobody."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
from listed_training import train_and_list_imports
from small_campaign import wait_until

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Architecture, FaultDeclaration, Optimizer
from failbench.recording import sandbox
from failbench.recording.sandbox import RecorderError, execute, fork_server, train

STEP, DONE = ("step", {"step": 0}), ("completed", {})
REFUSAL = {"error_type": "failbench.base.errors.BadInputError", "error_message": "No such fault."}
HOLDS = [{"agent": "memory_manager", "memory_bytes": step * 100} for step in range(10)]
MANAGED = [said for n, held in enumerate(HOLDS) for said in (("step", {"step": n}), ("hold", held))]


def act(script, order, line):
    """A child that says what it is told to, and sleeps, ends or dies where a number stands."""
    for kind, content in script:
        if kind == "sleep":
            time.sleep(content)
        elif kind == "exit":
            os._exit(content)
        elif kind == "signal":
            os.kill(os.getpid(), content)
        else:
            line.channel.send_bytes(json.dumps([kind, content]).encode())
            if kind == "hold":
                line.channel.recv_bytes()


@pytest.mark.parametrize(
    ("script", "hang_seconds", "ending", "exit_signal", "steps"),
    [
        ([STEP, DONE], 20.0, "completed", None, 1),
        ([STEP, ("sleep", 600)], 3.0, "timeout", "SIGKILL", 1),
        ([STEP, ("signal", signal.SIGABRT)], 20.0, "signal", "SIGABRT", 1),
        ([DONE, ("sleep", 600)], 3.0, "completed", None, 0),
        ([*MANAGED, DONE], 20.0, "signal", "SIGKILL", 6),  # killed at the first beyond capacity
    ],
    ids=["ends", "hangs", "aborts", "hangs at its end", "takes too much memory"],
)
def test_the_end_of_a_child_is_recorded(order, script, hang_seconds, ending, exit_signal, steps):
    limited, target = replace(order, capacity_bytes=450), partial(act, script)
    report = execute(fork_server(), limited, hang_seconds, 30.0, target)
    assert (report.ending, report.exit_signal) == (ending, exit_signal)
    assert [row["step"] for row in report.steps] == list(range(steps))


NO_FAULT = {"declaration": FaultDeclaration(name="gremlin", onset="start_crash"), "onset_step": 0}


TALKS = partial(act, [STEP, ("sleep", 0.05)] * 1000)


@pytest.mark.parametrize(
    ("target", "changes", "problem"),
    [
        (partial(act, [STEP, ("exit", 0)]), {}, "without a footer and without a signal"),
        (partial(act, [("error", REFUSAL)]), {}, r"one: the child refused its order: No such fau"),
        (TALKS, {}, r"one: .*after 1 seconds.*wall_limit_seconds"),
        (train, NO_FAULT, r"refused its order: one: fault\.name: there is no"),
    ],
    ids=["leaves silently", "refuses", "talks for ever", "knows no such fault"],
)
def test_a_child_that_records_nothing_is_an_error(order, target, changes, problem):
    limit = 1.0 if target is TALKS else 30.0
    with pytest.raises(RecorderError, match=problem):
        execute(fork_server(), replace(order, **changes), 20.0, limit, target)


@pytest.mark.parametrize("architecture", get_args(Architecture))
@pytest.mark.parametrize("optimizer", get_args(Optimizer))
def test_the_fork_server_has_imported_what_a_run_needs(architecture, optimizer, order):
    short = replace(order.nominal, planned_steps=12)
    chosen = replace(order, architecture=architecture, optimizer=optimizer, nominal=short)
    report = execute(fork_server(), chosen, 20.0, 30.0, train_and_list_imports)
    assert (report.ending, len(report.steps)) == ("completed", 12)
    assert report.configuration["imported"] == []


def test_missing_torch_is_one_error_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadInputError, match=r"record: recording needs torch.*make record"):
        sandbox.require_recording_extra()


HANGS_AFTER = 5.0
"""Seconds in which a child surely has reached its first step, and hangs in it."""
HANGING_CAMPAIGN = """
import pickle, sys
from pathlib import Path
from failbench.recording import sandbox

context = sandbox.fork_server()
real = context.Process.start
def start(process):
    real(process)
    Path(sys.argv[1] + ".part").write_text(str(process.pid))
    Path(sys.argv[1] + ".part").rename(sys.argv[1])
context.Process.start = start
sandbox.execute(context, pickle.loads(bytes.fromhex(sys.argv[2])), 600.0, 600.0)
"""


def test_a_hung_child_dies_with_its_campaign(order, tmp_path):
    # The campaign is a process of its own, that is killed while its child hangs.
    declared = FaultDeclaration(name="logger_deadlock", onset="mid_run")
    hung = replace(order, declaration=declared, onset_step=0, capacity_bytes=2**30)
    arguments = [str(tmp_path / "pid"), pickle.dumps(hung).hex()]
    campaign = subprocess.Popen([sys.executable, "-c", HANGING_CAMPAIGN, *arguments])
    wait_until((tmp_path / "pid").exists)
    child = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    time.sleep(HANGS_AFTER)
    campaign.kill()
    campaign.wait()
    wait_until(lambda: not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z")
