"""Ratios of what two pieces of work cost the processor, on machines that others use too."""

from __future__ import annotations

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
    """Processor time of a call of this process."""
    started = time.process_time()
    function()
    return time.process_time() - started
