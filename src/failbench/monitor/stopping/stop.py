"""Stop: what may end a training before its weights are touched, and the exception that does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Final, get_args

from failbench.monitor.breaks import Break
from failbench.monitor.diagnosis import Diagnosis
from failbench.monitor.invariants import CATALOGUE, Against, Invariant, Kind, read_invariants
from failbench.monitor.signals import Level, signals_of

LIVE: Final = read_invariants(  # no part of the catalogue, which is frozen in versions
    files("failbench.monitor").joinpath("data/live.csv").read_text(encoding="utf-8")
)

NONFINITE: Final = "nonfinite"  # the group of those that say that a number is not finite

COMPARABLE: Final[frozenset[Against]] = frozenset({"value", "first", "growth", "whole"})
"""What a value can be held against without the values of many steps before."""

STOPPING: Final = tuple(  # own bounds: somebody else's healthy runs would end yours
    invariant
    for invariant in (*CATALOGUE, *LIVE)
    if invariant.bound is not None and invariant.against in COMPARABLE
)

NOT_FINITE: Final = frozenset(  # the members of :data:`NONFINITE`
    invariant.id
    for invariant in STOPPING
    if "nonfinite" in invariant.signal or invariant.id == "loss_finite"
)


class StopTraining(RuntimeError):  # noqa: N818, it ends a run as StopIteration ends a loop
    """An invariant broke that the user chose to stop on. The optimizer has not stepped.

    Parameters
    ----------
    diagnosis
        What is said of the run as it stands.
    broken
        The break that stopped it, which the message names.

    Attributes
    ----------
    diagnosis, broken
        As given.
    evidence
        The one line that says what broke.
    """

    def __init__(self, diagnosis: Diagnosis, broken: Break) -> None:
        invariant = broken.invariant
        self.evidence = (
            f"Step {broken.step}: {invariant.signal} is {broken.value:.6g}. What must hold: "
            f"{invariant.statement}"
        )
        super().__init__(f"{invariant.component}: {self.evidence}")
        self.diagnosis = diagnosis
        self.broken = broken


def choices() -> tuple[str, ...]:
    """The names that ``stop_on`` may have: the group, kinds of invariants, and invariants."""
    kinds = {invariant.kind for invariant in STOPPING}
    return (
        NONFINITE,
        *(kind for kind in get_args(Kind) if kind in kinds),
        *(invariant.id for invariant in STOPPING),
    )


def chosen(stop_on: Iterable[str] | None, level: Level) -> tuple[Invariant, ...]:
    """The invariants that some names stand for."""
    names = {stop_on} if isinstance(stop_on, str) else set(stop_on or ())
    if unknown := names - set(choices()):
        raise ValueError(
            f"Nothing stops on {', '.join(sorted(map(repr, unknown)))}: choose of "
            f"{', '.join(choices())}. Other invariants have no bound without healthy runs."
        )
    measured = {signal.name for signal in signals_of(level)}
    for invariant in STOPPING:
        if invariant.id in names and invariant.signal not in measured:
            raise ValueError(
                f"{invariant.id} cannot stop a run at level {level!r}, which does not measure "
                f"{invariant.signal}: give another level."
            )
    if NONFINITE in names:
        names |= NOT_FINITE
    return tuple(
        each
        for each in STOPPING
        if each.signal in measured and (each.id in names or each.kind in names)
    )


@dataclass(frozen=True)
class Standing:
    """How an invariant stands, from one measurement to the next, as ``breaks`` says of all."""

    invariant: Invariant
    count: int = 0
    first: float = math.nan
    largest: float = -math.inf
    above: int = 0
    below: int = 0
    broken: Break | None = None

    def after(self, step: int, values: Mapping[str, float]) -> Standing:
        """How it stands after a step, of which some signals were measured."""
        invariant = self.invariant
        value = values.get(invariant.signal)
        if value is None or (invariant.presumes and values.get(invariant.presumes, 0) != 0):
            return self if self.broken is None else replace(self, broken=None)
        bound = invariant.bound
        if bound is None:
            raise ValueError(f"{invariant.id} has no bound of its own")
        held, undefined = self._compared(value), math.isnan(value)
        above = self.above + 1 if held > bound.high or undefined else 0
        below = self.below + 1 if held < bound.low or undefined else 0
        is_broken = max(above, below) >= invariant.rows
        return Standing(
            invariant,
            self.count + 1,
            self.first if self.count else value,
            math.nan if math.isnan(self.largest) or undefined else max(self.largest, value),
            above,
            below,
            Break(invariant, step, value, held, bound) if is_broken else None,
        )

    def _compared(self, value: float) -> float:
        if self.invariant.against == "value":
            return value
        if self.invariant.against == "first":
            return value - (self.first if self.count else value)
        if self.invariant.against == "whole":
            return value - 1 if (self.first if self.count else value) == 1 else math.nan
        return value - self.largest if self.count > 1 else math.nan
