"""Budget: what a monitor that keeps to one leaves out of recorded runs, by declared costs.

The controller of the package runs on a clock that moves by what each measurement took when it was
measured (``data/monitor/measurements.csv``) and by steps of a declared length, so that what is left
out is equal on any machine.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

import polars as pl
from pydantic import Field

from failbench.base.records import Record
from failbench.monitor.budget import FIRST, TOGETHER, Budget, usual_intervals
from failbench.monitor.history import History, Row
from failbench.monitor.signals import MEASUREMENTS

EVERY: Final = 10  # steps from one check to the next in all recordings
ALWAYS: Final = "always"  # what is never left out, among the costs
BEFORE: Final = 5000  # steps after which a budget has settled
_MEMBER: Final = {unit: name for name, unit in TOGETHER.items()}  # any one stands for all
SETTLED, BEGINNING = "settled", "from the start"
"""Whether a run comes after thousands of steps, or is all that there was."""

COSTS: Final = pl.Schema(
    {"nominal_milliseconds": pl.Float64(), "measurement": pl.String(), "microseconds": pl.Float64()}
)

ANSWERS: Final = pl.Schema(
    {
        "share": pl.Float64(),  # the budget, null for none
        "milliseconds": pl.Float64(),  # of a step, null without a budget
        "state": pl.String(),  # null without a budget
        **dict.fromkeys(("author", "run_id", "kind", "scenario", "category"), pl.String()),
        "seed": pl.Int32(),
        "prediction": pl.String(),
        "alarm": pl.Boolean(),
        "kept": pl.Float64(),  # values of those that were measured without a budget
    }
)
"""A row per schedule and run of an author who was left out when it was learnt."""


class BudgetSettings(Record):
    """The section ``budget`` of params.yaml."""

    shares: tuple[Annotated[float, Field(gt=0, le=1)], ...]
    milliseconds: tuple[Annotated[float, Field(gt=0)], ...]


@dataclass(frozen=True)
class Schedule:
    """How a budget leaves measurements out of a run."""

    share: float | None
    milliseconds: float | None
    state: str | None
    before: Simulation | None = None  # the budget as a run finds it

    def thinned(self, history: History) -> History:
        """A history as a log within the budget would hold it."""
        if self.before is None:
            return history
        simulation, rows = copy.deepcopy(self.before), []
        at = {row.step: row for row in history.rows}
        last = max(at, default=-1)
        for step in range(last + 1):
            row = at.get(step)
            out = simulation.step(None if row is None else row.values.get("loss"))
            if row is not None:
                rows.append(self._row(row, history, out, is_last=step == last))
        return replace(history, rows=tuple(rows))

    def _row(self, row: Row, history: History, left_out: frozenset[str], *, is_last: bool) -> Row:
        out = set(left_out)
        if history.end.failed and is_last:
            out -= {"batch", *TOGETHER}  # measured after all, when the run fails
        if "recomputed loss" not in out:
            out.discard("loss")
        if row.step % history.every == 0 and "update" not in out:
            out.discard("optimizer")
        gone = {signal for name in out for signal in MEASUREMENTS[name]}
        return Row(row.step, {name: each for name, each in row.values.items() if name not in gone})


class Simulation:
    """A budget on a clock that moves by declared costs and by steps of a declared length."""

    def __init__(self, share: float, seconds: float, costs: Mapping[str, float]) -> None:
        self._seconds, self._costs = seconds, costs
        self._time, self._step = 0.0, 0
        self._budget, self._usual = Budget(share, EVERY, now=self._now), usual_intervals(EVERY)
        self._whole = 0

    def settle(self, steps: int) -> None:
        """Pass some steps; the first ones of the run that follows are measured whole."""
        for _ in range(steps):
            self.step(None)
        self._whole = self._step + FIRST

    def step(self, loss: float | None) -> frozenset[str]:
        """What is left out of the next step."""
        budget, number = self._budget, self._step
        budget.begin(number)
        out = budget.left_out(number) if number >= self._whole else frozenset[str]()
        if loss is not None and "loss" not in out:
            out -= budget.notice(loss)
        for unit, cost in self._costs.items():
            name = _MEMBER.get(unit, unit)
            if unit != ALWAYS and name not in out and number % self._usual[name] == 0:
                begun = self._time
                self._time += cost
                budget.spend(name, begun)
        budget.timed(self._pass_by)()
        self._time += self._seconds
        self._step += 1
        return out

    def _now(self) -> float:
        return self._time

    def _pass_by(self) -> None:
        self._time += self._costs[ALWAYS]


def schedules(settings: BudgetSettings, costs: pl.DataFrame) -> list[Schedule]:
    """No budget, and each budget with steps of each length."""
    found = [Schedule(None, None, None)]
    for milliseconds in settings.milliseconds:
        of_loop = costs.filter(nominal_milliseconds=milliseconds)
        seconds = {name: each / 1e6 for _, name, each in of_loop.iter_rows()}
        for share in settings.shares:
            for state, before in ((BEGINNING, 0), (SETTLED, BEFORE)):
                simulation = Simulation(share, milliseconds / 1000, seconds)
                if before:
                    simulation.settle(before)
                found.append(Schedule(share, milliseconds, state, simulation))
    return found
