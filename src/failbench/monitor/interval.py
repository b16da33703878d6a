"""Interval: time and counts, as means of all steps since the check before, lest waits go unseen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from failbench.monitor.signals import PHASES

AVERAGED: Final = frozenset(  # signals that checks have the mean of
    {"page_faults", "bytes_read", "bytes_written"}
    # An evaluation is not of every step: the time of one is no less for the steps before it.
    | {f"{kind}_{phase}" for kind in ("busy", "blocked") for phase in PHASES}
    - {"busy_evaluation", "blocked_evaluation"}
)


class Interval:
    """Adds up what steps took since the check before."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._totals: dict[str, float] = {}
        self._steps = 0
        self._last = -1
        self._of_last: dict[str, float] = {}

    def means(self, step: int, values: Mapping[str, float]) -> dict[str, float]:
        """Means of the steps since the check before, of which this is the last so far."""
        if step != self._last:
            self._pass()
        self._last = step
        self._of_last = {name: value for name, value in values.items() if name in AVERAGED}
        return {name: total / (self._steps + 1) for name, total in self._with_last().items()}

    def _pass(self) -> None:
        """Leave the last step behind: it was a check, or is added."""
        if self._last % self._every == 0:
            self._totals, self._steps = {}, 0
        elif self._last >= 0:
            self._totals, self._steps = self._with_last(), self._steps + 1

    def _with_last(self) -> dict[str, float]:
        last = {name: self._totals.get(name, 0.0) + each for name, each in self._of_last.items()}
        return self._totals | last
