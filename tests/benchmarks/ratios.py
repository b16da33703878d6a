"""Ratios of what two pieces of work cost the processor, on machines that others use too."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

ROUNDS = 6


def times_as_long(
    work: Callable[[], object], yardstick: Callable[[], object], most: float
) -> float:
    """How many times the processor time of the yardstick the work takes.

    The two take turns, and the quickest of each counts: a neighbour on the machine makes a round
    slower and never quicker. No more rounds are run than it takes to stay within ``most``.
    """
    worked, measured = [], []
    for _ in range(ROUNDS):
        measured.append(cpu_seconds(yardstick))
        worked.append(cpu_seconds(work))
        if min(worked) <= most * min(measured):
            break
    return min(worked) / min(measured)


def cpu_seconds(function: Callable[[], object]) -> float:
    """Processor time that a call takes in this process and in children that end within it."""
    started = _seconds_so_far()
    function()
    return _seconds_so_far() - started


def _seconds_so_far() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system
