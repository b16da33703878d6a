"""Budget: the share of a loop's time that its monitor may take, and what it measures seldom for it.

One measurement after the other is made less often, each time the one of which that saves most for
the steps that it adds between two, until all together fits. The first steps are measured whole, as
later ones are held against them, and so are all until half a second is spent: what is planned stays
below the budget and pays it back. Steps at which something is measured less often are among those
at which it was measured more often. Where a loss departs from those before it, what can still be
measured of its step is, and so are the steps until the next check, of a reserve of time.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from failbench.monitor.signals import MEASUREMENTS, SIGNALS

SHARE: Final = 0.05
OFF: Final = "FAILBENCH_MONITOR_BUDGET"
"""A variable of the environment that, as ``off``, lets every monitor measure all: of recordings."""

FIRST: Final = 20  # steps that are measured whole
FREE: Final = 0.5  # seconds that may be spent at once: many runs fail early, and few are so short
PLANNED: Final = 0.8  # of what is left for measurements: calls of hooks cost more than is timed
CLOSER: Final = 0.5  # seconds that may be spent on looking closer; they come back
REFILLED: Final = 0.1  # of the budget, until they are all there again
PAST: Final = 20  # losses with which one is compared
LEAST: Final = 0.25  # of the budget is for measurements, however much the rest takes
GREEDY: Final = 0.5  # of what is free may go to one measurement, before it is made less often
WINDOWS: Final = 8  # times between reviews of which the median is the loop's, evaluations aside
COSTS: Final = 5  # of a measurement, likewise
MOST: Final = 1024  # checks from one measurement to the next at most

TOGETHER: Final = {"memory": "phases", "clock": "phases", "counters": "phases"}
"""Measurements that follow a loop from phase to phase, and are left out of a step together."""

WORTH: Final = {"loss": 1000.0, "phases": 100.0, "batch": 10.0, "labels": 10.0}
"""What is worth more than all others at an equal price. It passes with its step, and is not there
later as weights and settings are; and by the loss it is seen where to look closer. Orders of
magnitude, chosen on the runs that the study of budgets asks about: development, not a test."""

STILL_THERE: Final = frozenset(
    {"batch", "labels", "recomputed loss", "output", "logit gradient"}
    | {"gradients left", "optimizer", "update", "live tensors"}
)
"""What can still be measured of a step when its loss is."""

ALWAYS: Final = ("arguments", "passed steps", "passes", "evaluation", "ranks")
"""What tells steps apart, is not of a step, or is done by all ranks together: never left out."""


@dataclass(frozen=True)
class Thinned:
    """A change of how often something is measured: each so many steps, and what it took before."""

    measurement: str
    every: int
    step: int
    share: float  # of the loop's own time, had it stayed as often as without a budget


def usual_intervals(every: int) -> dict[str, int]:
    """Steps from one measurement to the next without a budget."""
    checked = {signal.name for signal in SIGNALS if signal.cadence == "check"}
    return {
        name: every if signals and checked.issuperset(signals) else 1
        for name, signals in MEASUREMENTS.items()
    }


def longer(interval: int, every: int) -> int:
    """The next longer interval: a divisor of that of checks, or twice as many checks."""
    if interval >= every:
        return 2 * interval
    return next(each for each in range(interval + 1, every + 1) if every % each == 0)


def planned(
    seconds: Mapping[str, float], usual: Mapping[str, int], room: float, every: int
) -> dict[str, int]:
    """Steps from one measurement to the next, so that all take no more than some seconds a step."""
    intervals = {name: usual[name] for name in seconds}
    saved = {name: _saved(name, cost, intervals[name], every) for name, cost in seconds.items()}
    total = math.fsum(cost / intervals[name] for name, cost in seconds.items())
    while total > room and saved:
        worst = max(saved, key=saved.__getitem__)
        before = intervals[worst]
        if before >= MOST * every:
            break
        after = intervals[worst] = longer(before, every)
        total -= seconds[worst] / before - seconds[worst] / after
        saved[worst] = _saved(worst, seconds[worst], after, every)
    return intervals


def _saved(name: str, seconds: float, interval: int, every: int) -> float:
    """Seconds a step that the next longer interval saves, by the steps that it adds."""
    return seconds / WORTH.get(name, 1.0) / interval / longer(interval, every)


def departs(value: float, past: Sequence[float]) -> bool:
    """Whether a value is none, or lies outside those before it by more than they lie apart."""
    if not math.isfinite(value):
        return True
    low, high = min(past), max(past)
    return not low - (high - low) <= value <= high + (high - low)


def room_for(share: float, seconds: float, always: float) -> float:
    """Seconds a step for what may be left out, beside what is always done."""
    return max(share * seconds - always, LEAST * share * seconds)


class Budget:
    """Times what a monitor does, and says what is left out of a step."""

    def __init__(
        self,
        share: float,
        every: int,
        usual: Mapping[str, int] | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._share = share
        self._every = every
        self.now = now
        usual = usual_intervals(every) if usual is None else usual
        self._usual = {TOGETHER.get(name, name): usual[name] for name in usual}
        self._names: dict[str, list[str]] = {}
        for name in usual:
            self._names.setdefault(TOGETHER.get(name, name), []).append(name)
        self._always = set(ALWAYS)
        self._intervals = dict(self._usual)
        self._costs: dict[str, deque[float]] = {}
        self._totals: dict[str, float] = {}
        self._of_step: dict[str, float] = {}
        self._fixed: deque[float] = deque(maxlen=WINDOWS)
        self._steps: deque[float] = deque(maxlen=WINDOWS)
        self._number = 0
        self._inside = False
        self._spent = self._measuring = 0.0
        self._reviewed = (0, now(), 0.0, 0.0)
        self._thinned: list[tuple[int, str]] = []
        self._losses: deque[float] = deque(maxlen=PAST)
        self._reserve = CLOSER
        self._closer = 0  # the step before which all is measured

    def keep(self, measurements: Iterable[str]) -> None:
        """Never leave some measurements out."""
        self._always |= {TOGETHER.get(name, name) for name in measurements}

    def costs(self) -> dict[str, float]:
        """Seconds of each measurement in a step that has it, and of all that is never left out."""
        return {name: _median(each) for name, each in self._costs.items()} | {
            "always": _median(self._fixed) if self._fixed else 0.0
        }

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose time is the monitor's."""

        def call(*args: Any) -> Any:
            if self._inside:
                return function(*args)
            since, self._inside = self.now(), True
            try:
                return function(*args)
            finally:
                self._inside = False
                self._spent += self.now() - since

        return call

    def spend(self, measurement: str, since: float) -> None:
        """A measurement took the time from a moment until now."""
        seconds = self.now() - since
        name = TOGETHER.get(measurement, measurement)
        self._of_step[name] = self._of_step.get(name, 0.0) + seconds
        if not self._inside:
            self._spent += seconds

    def left_out(self, step: int) -> frozenset[str]:
        """The measurements that are left out of a step."""
        return frozenset(
            name
            for interval, unit in self._thinned
            if step % interval and (step >= self._closer or self._is_costly(unit))
            for name in self._names[unit]
        )

    def notice(self, loss: float) -> frozenset[str]:
        """A loss was measured; what is measured of its step after all, as it departs."""
        past, left_out = self._losses, frozenset[str]()
        if len(past) == PAST and departs(loss, past):
            past.clear()
            if self._reserve > 0:
                left_out = self.left_out(self._number)
                self._closer = self._number + 1 + self._every
        if math.isfinite(loss):
            past.append(loss)
        return (left_out - self.left_out(self._number)) & STILL_THERE

    def _is_costly(self, unit: str) -> bool:
        costs = self._costs.get(unit)
        return costs is not None and _median(costs) > CLOSER / self._every

    def begin(self, step: int) -> list[Thinned]:
        """A step begins: what is measured more or less often from now on."""
        if step == self._number:
            return []
        for name, seconds in self._of_step.items():
            if name not in self._always and self._number % self._usual[name] == 0:
                self._costs.setdefault(name, deque(maxlen=COSTS)).append(seconds)
                self._totals[name] = self._totals.get(name, 0.0) + seconds
                self._measuring += seconds
                if self._number < self._closer:
                    self._reserve -= seconds
        self._of_step, self._number = {}, step
        return self._review(step) if step % self._every == 0 else []

    def _review(self, step: int) -> list[Thinned]:
        now, (last, since, spent, measuring) = self.now(), self._reviewed
        self._reviewed = step, now, self._spent, self._measuring
        passed = self._spent - spent
        if step <= last or not last:  # the first steps warm up
            return []
        self._steps.append(max(now - since - passed, 0.0) / (step - last))
        gained = REFILLED * self._share * (now - since)
        self._reserve = min(self._reserve + gained, CLOSER)
        self._fixed.append(max(passed - (self._measuring - measuring), 0.0) / (step - last))
        if step < FIRST:
            return []
        seconds, costs = _median(self._steps), self.costs()
        room = room_for(self._share, seconds, costs.pop("always"))
        taken = math.fsum(cost / self._intervals[name] for name, cost in costs.items())
        is_free = self._spent < FREE
        fits = room / 2 <= taken <= room or (taken < room and not self._thinned)
        if fits and not is_free:
            return []
        plan = planned(costs, self._usual, PLANNED * room, self._every)
        if is_free:
            greedy = [name for name, total in self._totals.items() if total > GREEDY * FREE]
            plan = {name: plan[name] for name in greedy if self._is_usual(name)}
        return self._changed(step, plan)

    def _is_usual(self, name: str) -> bool:
        return self._intervals[name] == self._usual[name]

    def _changed(self, step: int, intervals: Mapping[str, int]) -> list[Thinned]:
        changed = {name: each for name, each in intervals.items() if each != self._intervals[name]}
        self._intervals |= changed
        self._thinned = [
            (each, name) for name, each in self._intervals.items() if not self._is_usual(name)
        ]
        seconds, costs = _median(self._steps), self.costs()
        return [
            Thinned(name, each, step, costs[name] / self._usual[name] / seconds if seconds else 1.0)
            for name, each in changed.items()
        ]


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
