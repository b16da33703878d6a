"""Budget: what a monitor that keeps to one leaves out of recorded runs, by declared costs.

The controller of the package runs on a clock that moves by what each measurement took when it was
measured (``data/monitor/measurements.csv``) and by steps of a declared length, so that what is left
out is equal on any machine.
"""

from __future__ import annotations

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
    steps: int = Field(ge=1)


@dataclass(frozen=True)
class Schedule:
    """Which measurements are left out of each step of a run."""

    share: float | None
    milliseconds: float | None
    state: str | None
    left_out: tuple[frozenset[str], ...] = ()

    def thinned(self, history: History) -> History:
        """A history as a log within the budget would hold it."""
        return replace(history, rows=tuple(self._row(row, history) for row in history.rows))

    def _row(self, row: Row, history: History) -> Row:
        out = set(self.left_out[row.step]) if row.step < len(self.left_out) else set()
        if history.end.failed and row.step == history.rows[-1].step:
            out -= {"batch", *TOGETHER}  # measured after all, when the run fails
        if "recomputed loss" not in out:
            out.discard("loss")
        if row.step % history.every == 0 and "update" not in out:
            out.discard("optimizer")
        gone = {signal for name in out for signal in MEASUREMENTS[name]}
        return Row(row.step, {name: each for name, each in row.values.items() if name not in gone})


def schedules(settings: BudgetSettings, costs: pl.DataFrame) -> list[Schedule]:
    """No budget, and each budget with steps of each length."""
    found = [Schedule(None, None, None)]
    for milliseconds in settings.milliseconds:
        of_loop = costs.filter(nominal_milliseconds=milliseconds)
        seconds = {name: each / 1e6 for _, name, each in of_loop.iter_rows()}
        for share in settings.shares:
            for state, before in ((BEGINNING, 0), (SETTLED, BEFORE)):
                left_out = simulated(share, milliseconds / 1000, seconds, before, settings.steps)
                found.append(Schedule(share, milliseconds, state, left_out))
    return found


def simulated(
    share: float, seconds: float, costs: Mapping[str, float], before: int, steps: int
) -> tuple[frozenset[str], ...]:
    """What a budget leaves out of the steps of a run that begins after some others."""
    time = 0.0
    budget, usual = Budget(share, EVERY, now=lambda: time), usual_intervals(EVERY)
    member = {unit: name for name, unit in TOGETHER.items()}  # any one stands for all
    left_out = []
    for step in range(before + steps):
        budget.begin(step)
        out = budget.left_out(step)
        left_out.append(out)
        for unit, cost in costs.items():
            name = member.get(unit, unit)
            if unit != ALWAYS and name not in out and step % usual[name] == 0:
                begun = time
                time += cost
                budget.spend(name, begun)

        def pass_by(cost: float = costs[ALWAYS]) -> None:
            nonlocal time
            time += cost

        budget.timed(pass_by)()
        time += seconds
    whole = FIRST if before else 0
    return (*(frozenset[str]() for _ in range(whole)), *left_out[before + whole :])
