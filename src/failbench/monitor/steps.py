"""Steps: where a loop is, and the signals of the step that it is in.

A step ends with the optimizer's last before the next batch is asked for, or, without
``monitor.data``, the next forward pass in training; callbacks and evaluations belong to it. A batch
that was asked for while no optimizer stepped belongs to the same step if gradients are left when
its forward pass begins; if not, as after a skipped step, the batch before was a step of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from failbench.monitor.clock import Clock, Counters, Counts
from failbench.monitor.guard import Guard
from failbench.monitor.interval import Interval
from failbench.monitor.log import LogWriter
from failbench.monitor.memory import LiveTensors, Memory
from failbench.monitor.ranks import Ranks
from failbench.monitor.signals import Phase
from failbench.monitor.step import Step


class Steps:
    """Follows a loop from phase to phase and from step to step, and writes each step."""

    def __init__(self, writer: LogWriter, guard: Guard, clock: Clock, every: int) -> None:
        self._writer = writer
        self._guard = guard
        self._clock = clock
        self._every = every
        self._memory: Memory | None = None
        self._ranks: Ranks | None = None
        # A budget says itself when.
        self._live_tensors = LiveTensors() if guard.budget is None else LiveTensors(math.inf)
        self._interval = Interval(every)
        self._counters = guard.attempt("counters", Counters)
        self._before: Step | None = None  # a batch was asked for, and has not come yet
        self._asked = False
        self._in_step = False
        self.phase: Phase = "build"
        self.pinned: Phase | None = None
        self._before_pin: Phase = "build"
        self.current = Step(0)
        self.number = 0
        self.enter("build")

    def watch(self, memory: Memory | None, ranks: Ranks | None) -> None:
        """Measure memory, and compare ranks, from now on."""
        self._memory = memory
        self._ranks = ranks
        self.current = self._new(self.current.number)

    @property
    def check(self) -> bool:
        """Whether the current step is a check: a function of its number alone."""
        return self._is_check(self.number)

    def enter(self, phase: Phase) -> None:
        """Begin a phase, unless the user declared one."""
        if self.pinned is None:
            self._change(phase)

    def pin(self, phase: Phase) -> bool:
        """Stay in a phase that the user declares; not within another one."""
        if self.pinned is not None:
            return False
        self._before_pin = self.phase
        self._change(phase)
        self.pinned = phase
        return True

    def unpin(self, failed: bool) -> None:
        """Leave that phase; after an exception only when the loop goes on."""
        self.pinned = None
        if not failed:
            self._change(self._before_pin)

    def ask(self) -> None:
        """A batch is asked for."""
        if self.pinned is not None:
            return
        self.enter("data")
        self._asked = True
        step = self.current
        if step.stepped or step.backwards:
            if step.stepped:
                self.number = step.number + 1
                self._end(step)
            self._before, self.current = step, self._new(self.number)
            self._note()

    def exhausted(self) -> None:
        """There is no batch: what follows belongs to the step before."""
        if self.pinned is not None:
            return
        if self._before is not None:
            self._before.join(self.current)
            self.current, self._before = self._before, None
            self.number = self.current.number
            self._begin(self.number)
        self.enter("callback")

    def forward(self, gradients: Callable[[], bool]) -> bool:
        """A forward pass in training begins."""
        step, before = self.current, self._before
        self._before = None
        if self._in_step:
            pass  # an optimizer that calls the model itself
        elif before is not None:
            if not before.stepped and gradients():
                before.join(step)
                self.current = before
            elif not before.stepped:
                self._end(before)
                self._renumber(before.number + 1)
        elif step.stepped or (step.backwards and not self._asked and not gradients()):
            self._follow(step)
        self.current.forwards += 1
        return self.current.forwards == 1

    def begin_update(self, closure: bool) -> None:
        """An optimizer's step begins, which may compute gradients itself by a closure."""
        if closure and self.current.stepped and not self._asked:
            self._follow(self.current)
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
            self._write(step, {})

    def finish(self) -> None:
        """Write the last step."""
        if self._before is not None:
            self.exhausted()
        self._change(self.phase)
        if self.current.forwards or self.current.evaluated:
            self._write(self.current, self._live(self.current))

    def close(self) -> None:
        """Close what was read from."""
        for source in (self._counters, self._memory, self._clock):
            if source is not None:
                source.close()

    def _change(self, phase: Phase) -> None:
        before, self.phase = self.phase, phase
        if self._guard.is_due("clock"):
            busy, blocked = self._guard.attempt("clock", self._clock.lap) or (0.0, 0.0)
            highest = None if self._memory is None else self._highest(self._memory)
            if before != "build":
                self.current.spend(before, busy, blocked, highest)
        self._note()

    def _highest(self, memory: Memory) -> float | None:
        return self._guard.attempt("memory", memory.highest)

    def _note(self) -> None:
        self._guard.write(self._writer.phase, self.phase, self.number)

    def _follow(self, step: Step) -> None:
        self._end(step)
        self.current = self._new(step.number + 1)
        self._renumber(step.number + 1)

    def _renumber(self, number: int) -> None:
        self.number = self.current.number = number
        self._begin(number)
        self._note()

    def _begin(self, number: int) -> None:
        """Follow a step, or not, as the budget has it; what passed unseen belongs to none."""
        was_due = self._guard.is_due("clock")
        self._guard.begin(number)
        if self._guard.is_due("clock") and not was_due:
            self._guard.attempt("clock", self._clock.lap)
            if self._memory is not None:
                self._highest(self._memory)

    def _new(self, number: int) -> Step:
        self._begin(number)
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

    def _end(self, step: Step) -> None:
        values = self._live(step)
        if self._ranks is not None:
            if self._is_check(step.number):
                values |= self._guard.values("ranks", self._ranks.measure, step.number)
            if self._is_check(step.number + 1) and self._guard.measures("ranks"):
                self._guard.measure("ranks", self._ranks.put, step.number + 1)
        self._write(step, values)

    def _live(self, step: Step) -> dict[str, float]:
        if not self._is_check(step.number):
            return {}
        return dict(self._guard.values("live tensors", self._live_tensors.measure))

    def _is_check(self, number: int) -> bool:
        return number % self._every == 0

    def _write(self, step: Step, values: dict[str, float]) -> None:
        check = self._is_check(step.number)
        measured = values | step.measured() | self._at_the_end(step)
        if self._guard.is_due("clock"):
            means = self._interval.means(step.number, measured)
            measured = measured | means if check else measured
        wanted = self._guard.wanted(measured)
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
