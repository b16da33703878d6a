"""Steps: where a loop is, and the signals of the step that it is in.

A training step ends with the optimizer's last step before the next batch. What follows, callbacks
and evaluations, belongs to it until the next batch is asked for from ``monitor.data``, or, in a
loop without, until the next forward pass in training. A step is written when the next begins.

With gradient accumulation a step spans several batches. A batch that was asked for while no
optimizer stepped belongs to the same step if gradients are left when its forward pass begins. If
there are none, as after a step that a ``GradScaler`` skipped, the batch before was a step of its
own, without the optimizer's signals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from failbench.monitor.clock import Clock, Counters, Counts
from failbench.monitor.guard import Guard
from failbench.monitor.log import LogWriter
from failbench.monitor.memory import DeviceMemory, ProcessMemory, live_tensors
from failbench.monitor.signals import Phase

MEANS: Final = frozenset(
    {
        "padding_share",
        "unknown_share",
        "token_surprise",
        "pair_surprise",
        "labels_ignored",
        "labels_same",
        "loss",
        "output_entropy",
        "logit_gradient_scale",
        "activation_rms",
        "evaluation_loss",
        "evaluation_surprise",
    }
)
"""Signals whose value is the mean where a step measures them several times."""

SMALLEST: Final = frozenset({"token_min", "distinct_share", "weight_spread", "activation_spread"})
"""Signals whose value is then the smallest."""

AROUND_ONE: Final = frozenset({"labels_next", "loss_ratio", "state_steps", "evaluation_loss_ratio"})
"""Signals whose value is then the one farthest from 1. Of all others it is the largest."""


@dataclass
class Step:
    """A step while it lasts.

    Attributes
    ----------
    number
        Counted from 0.
    values
        Signals that were measured.
    times
        Times that each of them was measured.
    seconds
        Busy and blocked, by phase.
    peaks
        Highest memory above that at the beginning, by phase.
    memory
        Bytes in use at the beginning; None where memory is not measured.
    counts
        What the system had counted at the beginning; None where it does not count.
    forwards, backwards
        Passes so far.
    stepped
        Whether an optimizer stepped.
    evaluated
        Whether there was an evaluation.
    """

    number: int
    memory: float | None = None
    counts: Counts | None = None
    values: dict[str, float] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    seconds: dict[Phase, tuple[float, float]] = field(default_factory=dict)
    peaks: dict[Phase, float] = field(default_factory=dict)
    forwards: int = 0
    backwards: int = 0
    stepped: bool = False
    evaluated: bool = False

    def add(self, values: Mapping[str, float], times: Mapping[str, int] | None = None) -> None:
        """Add measured signals; of several values of one, the mean or the worst remains."""
        for name, value in values.items():
            before, new = self.times.get(name, 0), 1 if times is None else times[name]
            self.values[name] = (
                _together(name, self.values[name], before, value, new) if before else value
            )
            self.times[name] = before + new

    def spend(self, phase: Phase, busy: float, blocked: float, highest: float | None) -> None:
        """Add the time and the memory of a phase that ends."""
        before = self.seconds.get(phase, (0.0, 0.0))
        self.seconds[phase] = before[0] + busy, before[1] + blocked
        if highest is not None and self.memory is not None:
            above = highest - self.memory
            self.peaks[phase] = max(self.peaks.get(phase, above), above)

    def join(self, other: Step) -> None:
        """Add what was measured of a later batch of the same step."""
        self.add(other.values, other.times)
        for phase, (busy, blocked) in other.seconds.items():
            self.spend(phase, busy, blocked, None)
        if self.memory is not None and other.memory is not None:
            for phase, peak in other.peaks.items():
                self.spend(phase, 0, 0, peak + other.memory)
        self.evaluated |= other.evaluated

    def measured(self) -> dict[str, float]:
        """All signals of the step but those that are read at its end."""
        passes = {"forwards": float(self.forwards), "backwards": float(self.backwards)}
        busy = {f"busy_{phase}": seconds for phase, (seconds, _) in self.seconds.items()}
        blocked = {f"blocked_{phase}": seconds for phase, (_, seconds) in self.seconds.items()}
        peaks = {f"memory_{phase}": peak for phase, peak in self.peaks.items()}
        return {**self.values, **passes, **busy, **blocked, **peaks}


class Steps:
    """Follows a loop from phase to phase and from step to step, and writes each step.

    Parameters
    ----------
    writer
        The log.
    guard
        Runs what is measured here: clock, memory and the system's counters.
    clock
        Times phases.
    every
        Steps from one check to the next.

    Attributes
    ----------
    phase
        What the loop is doing.
    current
        The step that it is in.
    pinned
        The phase that the user declared, in which passes of the model change nothing.
    """

    def __init__(self, writer: LogWriter, guard: Guard, clock: Clock, every: int) -> None:
        self._writer = writer
        self._guard = guard
        self._clock = clock
        self._every = every
        self._memory: ProcessMemory | DeviceMemory | None = None
        self._counters = guard.attempt("counters", Counters)
        self._before: Step | None = None  # a batch was asked for, and has not come yet
        self._asked = False
        self._in_step = False
        self.phase: Phase = "build"
        self.pinned: Phase | None = None
        self.current = Step(0)
        self.number = 0
        self.enter("build")

    def watch(self, memory: ProcessMemory | DeviceMemory | None) -> None:
        """Measure memory from now on."""
        self._memory = memory
        self.current = self._new(self.current.number)

    @property
    def check(self) -> bool:
        """Whether the current step is a check: a function of its number alone."""
        return self.number % self._every == 0

    def enter(self, phase: Phase) -> None:
        """Begin a phase, unless the user declared one."""
        if self.pinned is None:
            self._change(phase)

    @contextmanager
    def pin(self, phase: Phase) -> Iterator[None]:
        """Stay in a phase; after an exception in it too, until the loop goes on."""
        if self.pinned is not None:
            yield
            return
        before = self.phase
        self._change(phase)
        self.pinned = phase
        try:
            yield
        except BaseException:
            self.pinned = None
            raise
        self.pinned = None
        self._change(before)

    def ask(self) -> None:
        """A batch is asked for."""
        self.enter("data")
        self._asked = True
        step = self.current
        if step.stepped or step.backwards:
            if step.stepped:
                self.number = step.number + 1
                self._write(step)
            self._before, self.current = step, self._new(self.number)
            self._note()

    def exhausted(self) -> None:
        """There is no batch: what follows belongs to the step before."""
        if self._before is not None:
            self._before.join(self.current)
            self.current, self._before = self._before, None
            self.number = self.current.number
        self.enter("callback")

    def forward(self, gradients: Callable[[], bool]) -> bool:
        """A forward pass in training begins.

        Parameters
        ----------
        gradients
            Tells whether gradients are left.

        Returns
        -------
        Whether it is the step's first.
        """
        step, before = self.current, self._before
        self._before = None
        if self._in_step:
            pass  # an optimizer that calls the model itself
        elif before is not None:
            if not before.stepped and gradients():
                before.join(step)
                self.current = before
            elif not before.stepped:
                self._write(before)
                self._renumber(before.number + 1)
        elif step.stepped or (step.backwards and not self._asked and not gradients()):
            self._write(step)
            self.current = self._new(step.number + 1)
            self._renumber(step.number + 1)
        self.current.forwards += 1
        return self.current.forwards == 1

    def begin_update(self) -> None:
        """An optimizer's step begins."""
        self.enter("step")
        self._in_step = True

    def end_update(self) -> None:
        """An optimizer's step ended."""
        self._in_step = False
        self.current.stepped = True
        self.enter("callback")

    def write(self) -> None:
        """Write the current step as it is, if there is anything of it."""
        self._change(self.phase)
        step = self.current
        if step.forwards or step.stepped or step.evaluated or step.values:
            self._write(step, whole=False)

    def finish(self) -> None:
        """Write the last step."""
        if self._before is not None:
            self.exhausted()
        self._change(self.phase)
        if self.current.forwards or self.current.evaluated:
            self._write(self.current)

    def close(self) -> None:
        """Close what was read from."""
        for source in (self._counters, self._memory):
            if source is not None:
                source.close()

    def _change(self, phase: Phase) -> None:
        before, self.phase = self.phase, phase
        busy, blocked = self._guard.attempt("clock", self._clock.lap) or (0.0, 0.0)
        highest = None if self._memory is None else self._highest(self._memory)
        if before != "build":
            self.current.spend(before, busy, blocked, highest)
        self._note()

    def _highest(self, memory: ProcessMemory | DeviceMemory) -> float | None:
        return self._guard.attempt("memory", memory.highest)

    def _note(self) -> None:
        self._guard.write(self._writer.phase, self.phase, self.number)

    def _renumber(self, number: int) -> None:
        self.number = self.current.number = number
        self._note()

    def _new(self, number: int) -> Step:
        memory = None if self._memory is None else self._guard.attempt("memory", self._memory.used)
        return Step(number, memory, self._count())

    def _count(self) -> Counts | None:
        """Counts of the process without what the monitor itself read and wrote."""
        if self._counters is None:
            return None
        counts = self._guard.attempt("counters", self._counters.read)
        if counts is None or self._memory is None:
            return counts
        return Counts(
            counts.page_faults,
            counts.bytes_read - self._memory.bytes_read,
            counts.bytes_written - self._writer.bytes_written,
        )

    def _write(self, step: Step, whole: bool = True) -> None:
        check = step.number % self._every == 0
        values = step.measured() | self._at_the_end(step)
        if check and whole:
            values |= self._guard.values("live tensors", live_tensors)
        wanted = self._guard.wanted(values)
        # A step with an evaluation is written whole: it may be the only one for long.
        self._guard.write(self._writer.step, step.number, wanted, check or step.evaluated)

    def _at_the_end(self, step: Step) -> dict[str, float]:
        values: dict[str, float] = {}
        if self._memory is not None:
            used = self._guard.attempt("memory", self._memory.used)
            left = self._guard.attempt("memory", self._memory.available)
            if used is not None:
                values["memory"] = used
            if left is not None and math.isfinite(left):
                values["memory_available"] = left
        now = self._count()
        if now is not None and step.counts is not None:
            values["page_faults"] = now.page_faults - step.counts.page_faults
            values["bytes_read"] = now.bytes_read - step.counts.bytes_read
            values["bytes_written"] = now.bytes_written - step.counts.bytes_written
        return values


def _together(name: str, old: float, before: int, value: float, new: int) -> float:
    """One value for a signal that was measured several times."""
    if math.isnan(old) or math.isnan(value):
        return math.nan
    if name in MEANS:
        return (old * before + value * new) / (before + new)
    if name in SMALLEST:
        return min(old, value)
    if name in AROUND_ONE:
        return max(old, value, key=lambda number: abs(number - 1))
    return max(old, value)
