"""Faults that leave too little behind to be told: they happen outside of what a run can log."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from torch import Tensor

from failbench.recording.faults.registry import fault
from failbench.recording.loop import TrainingRun

_BLOCK = bytes(2**20)


def _busy_disk(run: TrainingRun, seconds: float) -> None:
    end = time.perf_counter() + seconds
    with (run.scratch / "contention").open("wb") as out:
        while time.perf_counter() < end:
            out.seek(0)
            out.write(_BLOCK)
            out.flush()
            os.fsync(out.fileno())


def _slow_read(run: TrainingRun, seconds: Callable[[], float]) -> None:
    inner = run.draw_texts

    def draw(count: int) -> list[str]:
        _busy_disk(run, seconds())
        return inner(count)

    run.draw_texts = draw


def _growing(
    run: TrainingRun, first_seconds: float, doubling: int, most_seconds: float
) -> Callable[[], float]:
    """A time that doubles every so many steps, from now on and up to a limit."""
    first = run.step
    return lambda: min(most_seconds, first_seconds * 2 ** ((run.step - first) / doubling))


@fault("at_onset")
def killed_from_outside(run: TrainingRun, *, delay: int) -> None:
    """Somebody or something kills the process; nothing in it changes before."""
    last = run.step + delay

    def wait() -> None:
        if run.step == last:
            run.hold("operator", run.row.memory_bytes)

    run.between_steps = wait


@fault("at_onset")
def disk_contention_periodic(run: TrainingRun, *, every: int, seconds: float) -> None:
    """A neighbour's job writes to the data disk at regular times; reads wait for it."""
    first = run.step
    _slow_read(run, lambda: seconds if (run.step - first) % every == every - 1 else 0.0)


@fault("at_onset")
def disk_contention_bursts(run: TrainingRun, *, share: float, seconds: float) -> None:
    """Reads from the data disk stall at irregular times."""
    generator = run.fault_generator
    _slow_read(run, lambda: seconds if generator.random() < share else 0.0)


@fault("at_onset")
def reads_slow_exponentially(
    run: TrainingRun, *, first_seconds: float, doubling: int, most_seconds: float
) -> None:
    """Every read of a batch takes a little longer than the one before."""
    _slow_read(run, _growing(run, first_seconds, doubling, most_seconds))


@fault("at_onset")
def weights_paged_exponentially(
    run: TrainingRun, *, first_seconds: float, doubling: int, most_seconds: float
) -> None:
    """Every update waits a little longer for pages that the system has moved to disk."""
    inner, seconds = run.update, _growing(run, first_seconds, doubling, most_seconds)

    def update() -> None:
        _busy_disk(run, seconds())
        inner()

    run.update = update


@fault("at_onset")
def activations_paged_exponentially(
    run: TrainingRun, *, first_seconds: float, doubling: int, most_seconds: float
) -> None:
    """Every backward pass waits a little longer for activations that were moved to disk."""
    inner, seconds = run.backward, _growing(run, first_seconds, doubling, most_seconds)

    def backward(loss: Tensor) -> None:
        _busy_disk(run, seconds())
        inner(loss)

    run.backward = backward
