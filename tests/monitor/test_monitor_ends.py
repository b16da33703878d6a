"""However a run ends, its log says in which phase, and what was measured last."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from failbench.monitor import Monitor, read_history
from failbench.monitor.memory import RESERVE, ProcessMemory, Reserve
from made_up_training import Tiny, adamw, cross_entropy, loader

HERE = [str(Path(__file__).parents[1] / "made_up"), *sys.path]


class CauseError(RuntimeError):
    pass


def fail_in(monitor, phase, batch=3):
    def due(here):
        if (here, number) == (phase, batch):
            raise CauseError

    def batches():
        nonlocal number
        for rows in loader():
            due("data")
            yield rows
            number += 1

    number = 0
    model = Tiny()
    optimizer = adamw(model)[0]
    monitor.watch(model, optimizer)
    model.norm.register_forward_hook(lambda *_: due("forward"))
    model.norm.weight.register_hook(lambda _: due("backward"))
    optimizer.register_step_pre_hook(lambda *_: due("step"))
    for rows in monitor.data(batches()):
        optimizer.zero_grad()
        logits = model(rows[:, :-1])
        due("loss")
        loss = monitor.loss(logits, rows[:, 1:], cross_entropy(logits, rows[:, 1:]))
        loss.backward()
        optimizer.step()
        due("callback")
        with monitor.phase("evaluation"):
            due("evaluation")


PHASES = ("data", "forward", "loss", "backward", "step", "evaluation", "callback")


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("given", [True, False])
def test_an_exception_ends_the_run_in_its_phase(tmp_path, monkeypatch, phase, given):
    hooks = [lambda *_: None]
    monkeypatch.setattr(sys, "excepthook", hooks[0])
    monitor = Monitor(tmp_path / "run")
    if given:
        with pytest.raises(CauseError), monitor:
            fail_in(monitor, phase)
    else:
        with pytest.raises(CauseError) as raised:
            fail_in(monitor, phase)
        sys.excepthook(raised.type, raised.value, raised.tb)
        assert hooks == [sys.excepthook]
    end = monitor.history().end
    assert (end.kind, end.phase, end.step) == ("exception", phase, 3)
    assert end.error.endswith("CauseError")
    assert monitor.history().rows[-1].step == (2 if phase == "data" else 3)


def test_an_exception_of_the_training_thread_alone_is_noted(tmp_path, monkeypatch):
    with pytest.raises(CauseError), Monitor(tmp_path / "built") as monitor:
        raise CauseError
    assert monitor.history().end.phase == "build"
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    monitor = Monitor(tmp_path / "run")
    monitor.watch(model := Tiny(), *adamw(model))

    def train_and_fail():
        model(torch.ones(2, 3, dtype=torch.long))
        raise CauseError

    def fail():
        raise CauseError

    for target, kind in ((fail, "running"), (train_and_fail, "exception")):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
        assert monitor.history().end.kind == kind


PROLOGUE = f"""
import os, signal, sys
sys.path[:0] = {HERE}
from failbench.monitor import Monitor
from made_up_training import LOOPS
monitor = Monitor(sys.argv[-1])
"""
TRAIN = "LOOPS['adamw'].run(monitor, steps=3)\n"


def run(code, folder):
    command = [sys.executable, "-c", PROLOGUE + code, folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done, read_history(folder)


def test_a_killed_process_is_explained(tmp_path):
    code = """
def kill(what, number):
    if (what, number) == ("loss", 13):
        os.kill(os.getpid(), signal.SIGKILL)
LOOPS["adamw"].run(monitor, at=kill)
"""
    done, history = run(code, tmp_path / "run")
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (history.end.kind, history.end.phase, history.end.step) == ("killed", "loss", 13)
    assert history.series("loss")[0][-1] == 12


def test_an_uncaught_exception_and_a_quiet_end_are_noted_and_a_forked_process_ends_no_run(tmp_path):
    done, history = run(TRAIN + "raise ValueError('the cause')", tmp_path / "failed")
    assert "ValueError: the cause" in done.stderr, "whatever was called before is called still"
    end = history.end
    assert (end.kind, end.phase, end.message) == ("exception", "data", "the cause")
    done, history = run(TRAIN, tmp_path / "completed")
    assert (done.stderr, history.end.kind) == ("", "completed")

    code = "if os.fork() == 0: sys.exit(1)\nos.wait()\nos.kill(os.getpid(), signal.SIGKILL)"
    assert run(code, tmp_path / "forked")[1].end.kind == "killed"


def test_the_reserve_goes_back_to_the_system():
    memory = ProcessMemory()
    before = memory.used()
    reserve = Reserve()
    assert memory.used() - before >= RESERVE
    reserve.release()
    assert memory.used() - before < RESERVE / 2


def test_memory_that_runs_out_is_written_within_the_limit(tmp_path):
    code = """
import resource, torch
from failbench.monitor.memory import ProcessMemory
most = int(ProcessMemory().used()) + 2**23
resource.setrlimit(resource.RLIMIT_DATA, (most, resource.RLIM_INFINITY))
kept = []
with monitor.phase("callback"):
    while True:
        kept.append(torch.zeros(2**18))
"""
    done, history = run(TRAIN + code, tmp_path / "run")
    assert (history.end.kind, history.end.phase) == ("out of memory", "callback"), done.stderr
