"""Results of the outside list: what the monitor says of bugs that others published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import Field

from failbench.errors import BadInputError
from failbench.monitor.breaks import Break
from failbench.monitor.diagnosis import Diagnosis, diagnose
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import Bound
from failbench.monitor.signals import Level, signals_of
from failbench.monitored.tables import Monitored, histories
from failbench.outside_list.bugs import Bug
from failbench.outside_list.runs import State, run_ids
from failbench.records import Record
from failbench.statistics.intervals import wilson
from failbench.vocabulary import ABSTAIN

LEVELS: Final[tuple[Level, Level]] = ("standard", "full")
"""The level that the monitor has unless told, and the one that the runs were recorded with."""

REMEDY: Final = "Run `failbench outside-list`."


class OutsideListSettings(Record):
    """The section ``outside_list`` of params.yaml, with what it takes of ``statistics``."""

    bounds: str | None
    confidence: float = Field(gt=0, lt=1)


@dataclass(frozen=True)
class Judged:
    """What the monitor says of a bug and of its healthy twin."""

    bug: Bug
    level: Level
    every: int
    faulty: Diagnosis
    twin: Diagnosis

    @property
    def first(self) -> Break | None:
        """What broke first at or after the step in which the fault begins."""
        onset = self.bug.onset or 0
        return next((each for each in self.faulty.breaks if each.step >= onset), None)

    @property
    def detected(self) -> bool:
        """Whether something broke at or after that step, and the diagnosis does not abstain."""
        return self.first is not None and self.faulty.answer != ABSTAIN

    @property
    def telling(self) -> Break | None:
        """What broke first at or after that step and holds in the healthy twin."""
        broken = {each.invariant.id for each in self.twin.breaks}
        onset = self.bug.onset or 0
        later = (each for each in self.faulty.breaks if each.step >= onset)
        return next((each for each in later if each.invariant.id not in broken), None)

    @property
    def told_apart(self) -> bool:
        """Whether it is detected by something that holds in the healthy twin."""
        return self.detected and self.telling is not None

    @property
    def named(self) -> bool:
        """Whether it is detected, and the component is the one that mends it."""
        return self.detected and self.faulty.answer == self.bug.component

    @property
    def steps(self) -> int | None:
        """Steps from that in which the fault begins to the first break; None where none broke."""
        return None if self.first is None else self.first.step - (self.bug.onset or 0)

    @property
    def alarm(self) -> bool:
        """Whether something broke in the healthy twin."""
        return bool(self.twin.breaks) or self.twin.answer != ABSTAIN


@dataclass(frozen=True)
class Share:
    """How many of the bugs, with Wilson's interval of the share."""

    count: int
    n: int
    ci_low: float
    ci_high: float

    @property
    def value(self) -> float:
        """The share."""
        return self.count / self.n


COUNTED: Final[Mapping[str, Callable[[Judged], bool]]] = {
    "detected": lambda judged: judged.detected,
    "within_one_step": lambda judged: judged.detected and (judged.steps or 0) <= 1,
    "within_one_check": lambda judged: judged.detected and (judged.steps or 0) <= judged.every,
    "told_apart": lambda judged: judged.told_apart,
    "named": lambda judged: judged.named,
    "told_apart_and_named": lambda judged: judged.told_apart and judged.named,
    "twin_alarm": lambda judged: judged.alarm,
}
"""What is counted of the bugs."""


def share(count: int, n: int, confidence: float) -> Share:
    """A share with its interval."""
    return Share(count, n, *wilson(count / n, n, confidence))


def shares(judged: Sequence[Judged], confidence: float) -> dict[str, Share]:
    """How many of the bugs, by what is counted."""
    return {
        name: share(sum(map(is_counted, judged)), len(judged), confidence)
        for name, is_counted in COUNTED.items()
    }


def judge(
    monitored: Monitored, bugs: Iterable[Bug], fitted: Mapping[str, Bound], level: Level
) -> tuple[Judged, ...]:
    """Diagnose every re-created bug and its twin."""
    stored = {run["run_id"]: history for run, history in histories(monitored)}

    def diagnosis(bug: Bug, state: State) -> Diagnosis:
        of_ranks = [
            diagnose(seen_at(_stored(stored, name, level), level), fitted)
            for name in run_ids(bug, state)
        ]
        return min(of_ranks, key=_first_step)

    judged = tuple(
        Judged(
            bug,
            level,
            _stored(stored, run_ids(bug, "faulty")[0], level).every,
            diagnosis(bug, "faulty"),
            diagnosis(bug, "healthy"),
        )
        for bug in bugs
        if bug.is_recreated
    )
    if not judged:
        raise BadInputError("data/outside", "(rows)", "no bug is re-created.", REMEDY)
    return judged


def seen_at(history: History, level: Level) -> History:
    """A history as a monitor of a lower level would have kept it."""
    names = {signal.name for signal in signals_of(level)}
    rows = tuple(
        Row(row.step, {name: value for name, value in row.values.items() if name in names})
        for row in history.rows
    )
    off = {name: reason for name, reason in history.off.items() if name in names}
    return replace(history, level=level, rows=rows, off=off)


def _stored(stored: Mapping[str, History], name: str, level: Level) -> History:
    history = stored.get(name)
    if history is None:
        raise BadInputError("data/outside", "run_id", f"{name!r} is not recorded.", REMEDY)
    if not history.rows or not set(signals_of(level)) <= set(signals_of(history.level)):
        problem = f"{name!r} has no signals of level {level}."
        raise BadInputError("data/outside/signals", "run_id", problem, REMEDY)
    return history


def _first_step(diagnosis: Diagnosis) -> float:
    return min((each.step for each in diagnosis.breaks), default=float("inf"))
