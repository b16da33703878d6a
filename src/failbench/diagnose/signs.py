"""Signs: everything in a log that may speak for a cause, before it is weighed.

The same signs are taken of a user's log and of the logs that the model is fitted to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from failbench.base.vocabulary import Category
from failbench.causes.places import places_of
from failbench.causes.support import Strength, supports
from failbench.diagnose.allocation import allocation_of
from failbench.diagnose.bounds import most_extreme
from failbench.diagnose.checks import Check, checks
from failbench.diagnose.readers.log import NOWHERE, Event, Log
from failbench.diagnose.readers.names import SIGNALS
from failbench.diagnose.readers.traps import traps
from failbench.diagnose.series import Compared, Series, compared, series_of
from failbench.messages.catalogue import message_of
from failbench.monitor.breaks import Break, breaks
from failbench.monitor.diagnosis import decide
from failbench.monitor.endings import ENDINGS
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE, Bound

SignKind = Literal[
    "message",
    "event",
    "place",
    "around",
    "trap",
    "allocation",
    "check",
    "absent",
    "invariant",
    "ending",
    "decided",
]
"""A message that is known, and the kind of an event that is not; where an error was raised, and
what called that; a trap; the size of a block that memory had no room for; a check; a signal that is
not logged; of a monitor's log what broke, how it ended, and what decided."""

LOGIC_ONLY: Final[Mapping[str, Bound]] = {}

PLACES: Final[tuple[SignKind, ...]] = ("place", "around")
"""The innermost place of a traceback, and the one around it."""

FIRST_STEPS: Final = 3

BLOCK_TOO_LARGE: Final = (
    "tensor_blows_up",
    "batch_exceeds_memory",
    "evaluation_exceeds_memory",
    "model_exceeds_memory",
)
"""Causes of a block that is out of proportion."""

VALIDATION: Final = "validation_loss"

ABSENT: Final = (*SIGNALS, VALIDATION)
"""Signals whose absence is a sign: it says what a log could not show."""


@dataclass(frozen=True)
class Sign:
    """One thing in a log."""

    kind: SignKind
    id: str
    strength: Strength = "circumstantial"
    causes: tuple[str, ...] = ()
    category: Category | None = None
    amount: float = 1.0
    is_warning: bool = False


@dataclass(frozen=True)
class CheckedSeries:
    """A check and the series that it was held against."""

    check: Check
    series: Series
    held: Compared


def checked(log: Log, wanted: Collection[str] | None = None) -> Iterator[CheckedSeries]:
    """Every check whose signal is logged, with what it compares, one after the other."""
    found = series_of(log)
    for name, check in checks().items():
        if check.signal in found and (wanted is None or name in wanted):
            series = found[check.signal]
            yield CheckedSeries(check, series, compared(series.values, check.against))


def broken_in(history: History, fitted: Mapping[str, Bound]) -> tuple[Break, ...]:
    """What broke in a monitor's log: logic, and what has a bound from healthy runs."""
    return breaks(history, CATALOGUE, fitted)


def signs_of(log: Log, fitted: Mapping[str, Bound] = LOGIC_ONLY) -> tuple[Sign, ...]:
    """All signs of a log."""
    signs = [*_of_events(log.events), *_of_traps(log), *_of_checks(log), *_of_allocation(log)]
    if fails_at_start(log):
        signs.append(Sign("event", "at_start"))
    present = set(log.present) | ({VALIDATION} if has_validation(log) else set())
    signs += [Sign("absent", name) for name in ABSENT if name not in present]
    if log.history is not None:
        signs += _of_history(log.history, broken_in(log.history, fitted))
    return tuple({(sign.kind, sign.id): sign for sign in reversed(signs)}.values())[::-1]


def _of_events(events: tuple[Event, ...]) -> Iterator[Sign]:
    for event in events:
        known = message_of(event.name, event.message)
        if known is not None:
            yield Sign(
                "message", known.id, known.strength, known.causes, known.category,
                is_warning=event.kind == "warning",
            )  # fmt: skip
        elif event.kind != "warning":
            yield Sign("event", event.kind)
        if event.kind == "exception":
            for place, kind in zip(places_of(event.frames), PLACES, strict=False):
                yield Sign(kind, place.id, "circumstantial", place.causes, place.component)


def fails_at_start(log: Log) -> bool:
    """Whether an error was raised within the first steps: what is wrong is there from the start."""
    last = log.rows.step.max(initial=NOWHERE)
    is_error = any(event.kind == "exception" for event in log.events)
    return is_error and NOWHERE < last < FIRST_STEPS


def _of_allocation(log: Log) -> Iterator[Sign]:
    allocation = allocation_of(log)
    if allocation is not None and allocation.is_out_of_proportion:
        yield Sign("allocation", "out_of_proportion", causes=BLOCK_TOO_LARGE)


def _of_traps(log: Log) -> Iterator[Sign]:
    for trap in traps(log):
        yield Sign("trap", trap.kind, "circumstantial", trap.causes)


def _of_checks(log: Log) -> Iterator[Sign]:
    for each in checked(log):
        check, amount = each.check, most_extreme(each.check, each.held)
        if amount is not None:
            yield Sign("check", check.id, check.strength, check.causes, amount=amount)


def has_validation(log: Log) -> bool:
    """Whether a loss on data that are not trained on is logged."""
    return len(log.series("loss", "validation")) > 0


def _of_history(history: History, broken: tuple[Break, ...]) -> Iterator[Sign]:
    for each in broken:
        invariant = each.invariant
        support = supports("invariant")[invariant.id]
        yield Sign("invariant", invariant.id, support.strength, support.causes, invariant.component)
    decided_by = decide(broken, history.end, ENDINGS)
    if isinstance(decided_by, Break):
        invariant = decided_by.invariant
        support = supports("invariant")[invariant.id]
        yield Sign("decided", invariant.kind, support.strength, support.causes, invariant.component)
    elif decided_by is not None:
        support = supports("ending")[decided_by.id]
        yield Sign("ending", decided_by.id, support.strength, support.causes, decided_by.component)
        yield Sign("decided", "ending", support.strength, support.causes, decided_by.component)
