"""The parent's side: whatever a child does, it is recorded and hurts nobody."""

import builtins
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from listed_training import train_and_list_imports

from failbench.base.errors import BadInputError
from failbench.base.scenarios import Architecture, FaultDeclaration, Optimizer
from failbench.recording.order import RunOrder
from failbench.recording.sandbox import (
    RecorderError,
    execute,
    fork_server,
    require_recording_extra,
    train,
)


def say(line, kind, **content):
    line.channel.send_bytes(json.dumps([kind, content]).encode())


def complete(order, line):
    say(line, "step", step=0)
    say(line, "completed")


def talk_for_ever(order, line):
    while True:
        say(line, "step", step=0)
        time.sleep(0.05)


def leave_silently(order, line):
    say(line, "step", step=0)
    os._exit(0)


def refuse(order, line):
    say(
        line,
        "error",
        error_type="failbench.base.errors.BadInputError",
        error_message="No such fault.",
    )


def hang(order, line):
    say(line, "step", step=0)
    time.sleep(600)


def abort(order, line):
    say(line, "step", step=0)
    os.kill(os.getpid(), signal.SIGABRT)


def complete_and_hang(order, line):
    say(line, "completed")
    time.sleep(600)


def be_managed(order, line):
    for step in range(10):
        say(line, "step", step=step)
        say(line, "hold", agent="memory_manager", memory_bytes=step * 100)
        line.channel.recv_bytes()
    say(line, "completed")


HANGS_AFTER = 5.0
"""Seconds in which a child surely has reached its first step, and hangs in it."""

HANGING_CAMPAIGN = """
import sys
from pathlib import Path
from failbench.recording import sandbox
from failbench.recording.order import RunOrder
from failbench.recording.nominal import Nominal, Seeds
from failbench.base.scenarios import FaultDeclaration

nominal = Nominal(4, 0.006, 32, 20, 10, 1.0, 1, 160, 0, 1.8, "none", 5, 0.2)
order = RunOrder(
    "hung", "gru", "adamw", "small", "cpu", nominal, Seeds(1, 2, 3, 4, 5),
    FaultDeclaration(name="logger_deadlock", onset="mid_run"), 0, 2**30, "CORPUS",
)
context = sandbox.fork_server()
real = context.Process.start
def start(process):
    real(process)
    Path(sys.argv[1] + ".part").write_text(str(process.pid))
    Path(sys.argv[1] + ".part").rename(sys.argv[1])
context.Process.start = start
sandbox.execute(context, order, 600.0, 600.0)
"""


@pytest.fixture
def order(nominal, seeds):
    return RunOrder(
        "one", "gru", "adamw", "small", "cpu", nominal, seeds, None, None, 450, "corpus.json"
    )


def run(order, target, hang_seconds=20.0):
    return execute(fork_server(), order, hang_seconds, 30.0, target)


@pytest.mark.parametrize(
    ("target", "hang_seconds", "ending", "exit_signal", "steps"),
    [
        (complete, 20.0, "completed", None, 1),
        (hang, 3.0, "timeout", "SIGKILL", 1),
        (abort, 20.0, "signal", "SIGABRT", 1),
        (complete_and_hang, 3.0, "completed", None, 0),
    ],
)
def test_the_end_of_a_child_is_recorded(order, target, hang_seconds, ending, exit_signal, steps):
    report = run(order, target, hang_seconds)
    assert (report.ending, report.exit_signal, len(report.steps)) == (ending, exit_signal, steps)


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (leave_silently, "without a footer and without a signal"),
        (refuse, r"one: the child refused its order: No such fault\."),
    ],
)
def test_a_child_that_records_nothing_is_an_error(order, target, problem):
    with pytest.raises(RecorderError, match=problem):
        run(order, target)


def test_child_that_never_ends_is_an_error_that_names_run_and_limit(order):
    with pytest.raises(RecorderError, match=r"one: .*after 1 seconds.*wall_limit_seconds"):
        execute(fork_server(), order, 20.0, 1.0, talk_for_ever)


def test_order_of_a_fault_that_is_not_there_is_refused_by_the_child(order, corpus_cache):
    declared = FaultDeclaration(name="gremlin", onset="start_crash")
    wrong = replace(order, declaration=declared, onset_step=0, corpus_cache=str(corpus_cache))
    with pytest.raises(RecorderError, match=r"refused its order: one: fault\.name: there is no"):
        run(wrong, train)


def test_memory_manager_kills_at_the_first_step_beyond_capacity(order):
    report = run(order, be_managed)
    assert (report.ending, report.exit_signal) == ("signal", "SIGKILL")
    assert [row["step"] for row in report.steps] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("architecture", get_args(Architecture))
@pytest.mark.parametrize("optimizer", get_args(Optimizer))
def test_fork_server_has_imported_what_a_run_needs(architecture, optimizer, order, corpus_cache):
    short = replace(
        order,
        architecture=architecture,
        optimizer=optimizer,
        nominal=replace(order.nominal, planned_steps=12),
        capacity_bytes=None,
        corpus_cache=str(corpus_cache),
    )
    report = run(short, train_and_list_imports)
    assert (report.ending, len(report.steps)) == ("completed", 12)
    assert report.configuration["imported"] == []


def test_missing_torch_is_one_error_with_the_command_that_installs_it(monkeypatch):
    real = builtins.__import__

    def without_torch(name, *args, **kwargs):
        if name == "torch":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_torch)
    with pytest.raises(BadInputError, match=r"record: recording needs torch.*make record"):
        require_recording_extra()


def test_hung_child_dies_with_its_campaign(tmp_path, corpus_cache):
    # The campaign is a process of its own, that is killed while its child hangs.
    campaign = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HANGING_CAMPAIGN.replace("CORPUS", str(corpus_cache)),
            str(tmp_path / "pid"),
        ],
        cwd=Path(__file__).parents[2],
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child = int((tmp_path / "pid").read_text())
    time.sleep(HANGS_AFTER)
    campaign.kill()
    campaign.wait()
    while Path(f"/proc/{child}/stat").exists():
        state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "Z":
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
