"""Budget: the share of a loop's time that its monitor may take, and what it measures seldom for it.

One measurement after the other is made less often, each time the one of which that saves most for
the steps that it adds between two, until all together fits. The first steps are measured whole, as
later ones are held against them, and so are all until a second is spent: what is planned stays
below the budget and pays it back. Steps at which something is measured less often are among those
at which it was measured more often.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from failbench.monitor.signals import MEASUREMENTS, SIGNALS

SHARE: Final = 0.05
OFF: Final = "FAILBENCH_MONITOR_BUDGET"
"""A variable of the environment that, as ``off``, lets every monitor measure all: of recordings."""

FIRST: Final = 20  # steps that are measured whole
FREE: Final = 1.0  # seconds that may be spent at once: many runs fail early, and few are so short
PLANNED: Final = 0.8  # of what is left for measurements: calls of hooks cost more than is timed
LEAST: Final = 0.25  # of the budget is for measurements, however much the rest takes
GREEDY: Final = 0.5  # of what is free may go to one measurement, before it is made less often
WINDOWS: Final = 8  # times between reviews of which the median is the loop's, evaluations aside
COSTS: Final = 5  # of a measurement, likewise
MOST: Final = 1024  # checks from one measurement to the next at most

TOGETHER: Final = {"memory": "phases", "clock": "phases", "counters": "phases"}
"""Measurements that follow a loop from phase to phase, and are left out of a step together."""

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
    saved = {name: _saved(cost, intervals[name], every) for name, cost in seconds.items()}
    total = math.fsum(cost / intervals[name] for name, cost in seconds.items())
    while total > room and saved:
        worst = max(saved, key=saved.__getitem__)
        before = intervals[worst]
        if before >= MOST * every:
            break
        after = intervals[worst] = longer(before, every)
        total -= seconds[worst] / before - seconds[worst] / after
        saved[worst] = _saved(seconds[worst], after, every)
    return intervals


def _saved(seconds: float, interval: int, every: int) -> float:
    """Seconds a step that the next longer interval saves, by the steps that it adds."""
    return seconds / interval / longer(interval, every)


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
            for unit, interval in self._intervals.items()
            if step % interval and interval != self._usual[unit]
            for name in self._names[unit]
        )

    def begin(self, step: int) -> list[Thinned]:
        """A step begins: what is measured more or less often from now on."""
        if step == self._number:
            return []
        for name, seconds in self._of_step.items():
            if name not in self._always and self._number % self._usual[name] == 0:
                self._costs.setdefault(name, deque(maxlen=COSTS)).append(seconds)
                self._totals[name] = self._totals.get(name, 0.0) + seconds
                self._measuring += seconds
        self._of_step, self._number = {}, step
        return self._review(step) if step % self._every == 0 else []

    def _review(self, step: int) -> list[Thinned]:
        now, (last, since, spent, measuring) = self.now(), self._reviewed
        self._reviewed = step, now, self._spent, self._measuring
        passed = self._spent - spent
        if step <= last or not last:  # the first steps warm up
            return []
        self._steps.append(max(now - since - passed, 0.0) / (step - last))
        self._fixed.append(max(passed - (self._measuring - measuring), 0.0) / (step - last))
        if step < FIRST:
            return []
        seconds, costs = _median(self._steps), self.costs()
        room = room_for(self._share, seconds, costs.pop("always"))
        taken = math.fsum(cost / self._intervals[name] for name, cost in costs.items())
        plan = planned(costs, self._usual, PLANNED * room, self._every)
        if self._spent < FREE:
            greedy = [name for name, total in self._totals.items() if total > GREEDY * FREE]
            unplanned = {name: plan[name] for name in greedy if self._is_usual(name)}
            return self._changed(step, unplanned)
        if room / 2 <= taken <= room or (taken < room and all(map(self._is_usual, costs))):
            return []
        return self._changed(step, plan)

    def _is_usual(self, name: str) -> bool:
        return self._intervals[name] == self._usual[name]

    def _changed(self, step: int, intervals: Mapping[str, int]) -> list[Thinned]:
        changed = {name: each for name, each in intervals.items() if each != self._intervals[name]}
        self._intervals |= changed
        seconds, costs = _median(self._steps), self.costs()
        return [
            Thinned(name, each, step, costs[name] / self._usual[name] / seconds if seconds else 1.0)
            for name, each in changed.items()
        ]


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
