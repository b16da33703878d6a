"""Memory: what each phase of a training step takes, from the log of a monitor."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from failbench.diagnose.inspection.loss_curve import slope_of
from failbench.diagnose.inspection.parameters import table_text
from failbench.monitor.breaks import FLOORS
from failbench.monitor.history import History
from failbench.monitor.signals import PHASES
from failbench.preflight.memory import readable

# checks that make the start of a run: the window of the monitor's invariants of memory
START: Final = 8
ROWS: Final = 2  # measurements in a row that leave it: theirs too
# bytes below which differences mean nothing (:data:`failbench.monitor.breaks.FLOORS`)
NOTHING: Final = FLOORS["bytes"]
# in place of a phase: the memory at the end of a step, and not what lies above its beginning
WHOLE: Final = "whole"


@dataclass(frozen=True)
class PhaseMemory:
    """The memory of one phase."""

    phase: str
    measurements: int
    median: float
    peak: float
    peak_step: int
    growth: float | None
    start: float | None
    left_start: int | None


def memory_by_phase(history: History) -> tuple[PhaseMemory, ...]:
    """The memory of each phase that was measured, in the order of a step, and the whole.

    Healthy runs leave their start too, by noise of the allocator or a longer batch: where a phase
    did so first is a place to look at, and no verdict.

    Parameters
    ----------
    history
        What a monitor measured; see :func:`failbench.monitor.history.read_history`.
    """
    names = {phase: f"memory_{phase}" for phase in PHASES if phase != "build"} | {WHOLE: "memory"}
    measured = {phase: history.series(signal) for phase, signal in names.items()}
    return tuple(
        _phase(phase, steps[finite], values[finite], history.every)
        for phase, (steps, values) in measured.items()
        if (finite := np.isfinite(values)).any()
    )


def first_to_leave(phases: Iterable[PhaseMemory]) -> PhaseMemory | None:
    """The phase that left its start first; of several at one step the first in the order given."""
    left = [each for each in phases if each.left_start is not None and each.phase != WHOLE]
    return min(left, key=lambda each: each.left_start or 0, default=None)


def memory_text(phases: Iterable[PhaseMemory]) -> str:
    """A table of phases, and a line of which left its start first."""
    phases = tuple(phases)
    columns = ("phase", "median", "peak", "at step", "growth", "left its start")
    first = first_to_leave(phases)
    line = "No phase left its start."
    if first is not None:
        line = f"The first phase to leave its start: {first.phase}, at step {first.left_start}."
    return f"{table_text(columns, map(_cells, phases))}\n{line}"


def _cells(one: PhaseMemory) -> tuple[str, ...]:
    growth = ""
    if one.growth is not None:
        growth = f"{'-' * (one.growth < 0)}{readable(abs(one.growth))}/step"
    left = "" if one.left_start is None else f"step {one.left_start}"
    return one.phase, readable(one.median), readable(one.peak), str(one.peak_step), growth, left


def _phase(
    phase: str, steps: NDArray[np.int64], values: NDArray[np.float64], every: int
) -> PhaseMemory:
    peak = int(values.argmax())
    slope = slope_of(steps.astype(float), values)
    checks = np.flatnonzero(steps % every == 0)[:START]
    start, left = None, None
    if len(checks) == START:
        start = float(values[checks].max())
        outside = values > start + NOTHING
        outside[: checks[-1] + 1] = False
        rows = np.lib.stride_tricks.sliding_window_view(outside, ROWS).all(axis=1)
        left = int(steps[int(rows.argmax()) + ROWS - 1]) if rows.any() else None
    growth = None if slope is None else slope.slope
    middle, largest, at = float(np.median(values)), float(values[peak]), int(steps[peak])
    return PhaseMemory(phase, len(values), middle, largest, at, growth, start, left)
