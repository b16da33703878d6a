"""The clock tells waiting from computing, and from waiting for a processor."""

import os
import subprocess
import sys
import time

import pytest

from failbench.monitor.clock import Clock

BURN = "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass"


def compute(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.fixture
def shared_processor():
    """This thread on one processor, and another process that wants it all the time."""
    allowed = os.sched_getaffinity(0)
    processor = min(allowed)
    os.sched_setaffinity(0, {processor})
    other = subprocess.Popen([sys.executable, "-c", BURN % processor])
    time.sleep(1)
    yield
    other.kill()
    other.wait()
    os.sched_setaffinity(0, allowed)


def test_a_wait_for_a_processor_is_neither_busy_nor_blocked(shared_processor):
    clock = Clock()
    began = time.perf_counter()
    compute(0.5)
    busy, blocked = clock.lap()
    wall = time.perf_counter() - began
    assert wall > 1.2 * busy, "the other process had the processor for a while"
    assert blocked < 0.3 * (wall - busy)


def test_sleep_is_blocked_and_what_is_left_out_is_neither():
    clock = Clock()
    since = clock.read()
    compute(0.05)
    time.sleep(0.1)
    clock.leave_out(since)
    began = time.perf_counter()
    time.sleep(0.1)
    busy, blocked = clock.lap()
    wall = time.perf_counter() - began
    assert busy < 0.5 * wall
    assert 0.5 * wall < blocked <= 1.1 * wall


def test_where_the_system_does_not_say_waiting_for_a_processor_is_blocked(monkeypatch):
    def absent(*_):
        raise FileNotFoundError

    monkeypatch.setattr(os, "open", absent)
    clock = Clock()
    monkeypatch.undo()
    time.sleep(0.05)
    busy, blocked = clock.lap()
    assert blocked > busy
