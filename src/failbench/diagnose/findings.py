"""Findings: the signs of a log as evidence, each with the place where it can be checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np

from failbench.causes.support import places_of, supports
from failbench.diagnose.checks import Against, CheckBound
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.log import NOWHERE, Event, Log, known
from failbench.diagnose.readers.traps import Trap
from failbench.diagnose.series import GAP, CheckedSeries
from failbench.diagnose.signs import BLOCK_TOO_LARGE, OUT_OF_PROPORTION, PLACES, block_too_large
from failbench.messages.catalogue import message_of
from failbench.monitor.breaks import FLOORS, SMALLEST, Break
from failbench.monitor.endings import Ending
from failbench.monitor.history import History
from failbench.monitor.invariants import RATIOS
from failbench.monitor.signals import SIGNALS

QUOTE: Final = 300
"""Letters of a log's words that are quoted."""

_SHARES: Final[frozenset[Against]] = frozenset({"progress", "any_progress"})
_WHOLE: Final[frozenset[Against]] = frozenset({"climb", "since_best"})
"""Of a whole series: their amount is computed, and stands in no line."""

_WORDS: Final = {
    "climb": "the correlation of its values with time",
    "since_best": "the correlation of its values with time since the best one",
}
_UNIT: Final = {signal.name: signal.unit for signal in SIGNALS}


def check_findings(
    log: Log, checked: Iterable[CheckedSeries], bounds: Mapping[str, CheckBound]
) -> Iterator[Finding]:
    """The checks that broke, each where it did so first."""
    for each in checked:
        check, held = each.check, each.held
        name = check.id
        beyond = np.flatnonzero(each.lasting() > bounds[name].limit)
        if not len(beyond):
            continue
        place = int(beyond[0])
        limit = check.sign * bounds[name].limit
        value, threshold = float(each.series.logged[place]), math.nan
        relation: str = check.relation
        signal = "validation_loss" if check.signal == GAP else check.signal
        if check.against == "not_finite":
            relation, said = "", f"{check.statement}: {value}."
        elif check.against in ("zero", "zero_inside"):
            threshold, said = 0.0, f"{check.statement}."
        elif check.against == "faded_share":
            relation, threshold = "below", float(held.references[place])
            said = f"{check.statement}: {value:.4g}, below {threshold:.4g}."
        elif check.against in _WHOLE:
            value, threshold = float(held.amounts[place]), limit
            signal = f"{check.signal}, {_WORDS[check.against]}"
            said = (
                f"{check.statement}: {_WORDS[check.against]} is {value:.3g}, "
                f"{relation} {limit:.3g}."
            )
        elif check.against in _SHARES:
            threshold = float(held.references[place] * (1 - limit))
            amount = float(held.amounts[place])
            relation = "above"
            said = (
                f"{check.statement}: by {amount:.1%} of {held.references[place]:.4g}, and healthy "
                f"logs by {limit:.1%} at least."
            )
        else:
            # of a difference, the bound is as far from the logged number as from the difference
            offset = value - float(each.series.values[place])
            threshold = held.limit(place, limit) + offset
            said = (
                f"{check.statement}: {value:.4g}, {relation} the {threshold:.4g} "
                "that healthy logs would allow here."
            )
        yield Finding(
            name,
            "check",
            check.strength,
            said,
            log.sources[each.series.source].name,
            known(each.series.lines[place]),
            known(each.series.steps[place]),
            signal,
            value,
            "equals" if check.against in ("zero", "zero_inside") else relation,
            None if math.isnan(threshold) else threshold,
            causes=check.causes,
        )


def event_findings(log: Log) -> Iterator[Finding]:
    """What the log says in words: known messages, unknown ones, and where errors were raised."""
    seen: set[str] = set()
    for event in log.events:
        source = log.sources[event.source].name
        line, step = event.line or None, _step_at(log, event)
        # the name of a signal is ours, and stands nowhere in the log
        name = event.name if event.kind != "death" else ""
        quote = ": ".join(filter(None, (name, event.message)))[:QUOTE]
        said = message_of(event.name, event.message)
        if said is not None and said.id not in seen:
            seen.add(said.id)
            yield Finding(
                said.id, "message", said.strength, said.meaning, source, line, step,
                quote=quote, causes=said.causes,
            )  # fmt: skip
        elif said is None and event.kind != "warning" and event.kind not in seen:
            seen.add(event.kind)
            statement = (
                "An error ended the run whose message is not in the catalogue."
                if event.kind == "exception"
                else "The process was ended, and the log does not say by whom."
            )
            yield Finding(
                f"{event.kind}_not_known", "message", "circumstantial", statement,
                source, line, step, quote=quote,
            )  # fmt: skip
        raised = places_of(event.frames) if event.kind == "exception" else ()
        for place in raised[: len(PLACES)]:
            if place.id in seen:
                continue
            seen.add(place.id)
            yield Finding(
                place.id, "place", "circumstantial", place.statement, source, line, step,
                quote=event.frames[-1][:QUOTE], causes=place.causes,
            )  # fmt: skip


def allocation_findings(log: Log) -> Iterator[Finding]:
    """The block that memory had no room for, where it is out of proportion."""
    allocation = block_too_large(log)
    if allocation is None:
        return
    event = allocation.event
    yield Finding(
        "allocation_out_of_proportion",
        "allocation",
        "circumstantial",
        f"The block that was asked for, {allocation.requested:.3g} bytes, is larger than all that "
        f"was held, {allocation.held:.3g}.",
        log.sources[event.source].name,
        event.line or None,
        _step_at(log, event),
        "requested bytes",
        allocation.requested,
        "above",
        allocation.held * OUT_OF_PROPORTION,
        causes=BLOCK_TOO_LARGE,
    )


def _step_at(log: Log, event: Event) -> int | None:
    """The last step that was logged before the event in the same source."""
    rows = log.rows
    is_before = (rows.source == event.source) & (rows.step != NOWHERE)
    if event.line:
        is_before &= rows.line <= event.line
    before = rows.step[is_before]
    return int(before[-1]) if len(before) else None


def trap_findings(log: Log, found: tuple[Trap, ...]) -> Iterator[Finding]:
    """Values that do not mean what they say."""
    for trap in found:
        yield Finding(
            trap.kind, "trap", "circumstantial", trap.meaning, log.sources[trap.source].name,
            trap.line, trap.step, causes=trap.causes,
        )  # fmt: skip


def invariant_findings(source: str, broken: tuple[Break, ...]) -> Iterator[Finding]:
    """What broke in a monitor's log."""
    for each in broken:
        invariant = each.invariant
        support = supports("invariant")[invariant.id]
        is_above = not each.compared < each.bound.low
        threshold = _threshold(each, each.bound.high if is_above else each.bound.low)
        said = f"{invariant.signal} is {each.value:.6g}. What must hold: {invariant.statement}"
        yield Finding(
            invariant.id, "invariant", support.strength, said, source, None, each.step,
            invariant.signal, each.value, "above" if is_above else "below", threshold,
            causes=support.causes,
        )  # fmt: skip


def _threshold(broken: Break, bound: float) -> float | None:
    """A bound in the signal's own unit, from the value and what it was compared as."""
    against = broken.invariant.against
    if not math.isfinite(broken.compared) or not math.isfinite(bound):
        return bound if against == "value" and math.isfinite(bound) else None
    if against == "value":
        return bound
    if against in RATIOS:
        floor = FLOORS.get(_UNIT[broken.invariant.signal], SMALLEST)
        size = math.log(abs(broken.value) + floor) - broken.compared + bound
        return math.exp(size) - floor
    return broken.value - broken.compared + bound


def ending_finding(source: str, history: History, ending: Ending) -> Finding:
    """How a monitored run ended."""
    support = supports("ending")[ending.id]
    end = history.end
    return Finding(
        ending.id,
        "ending",
        support.strength,
        f"In the phase {end.phase}: {ending.statement}",
        source,
        None,
        end.step,
        quote=": ".join(filter(None, (end.error, end.message)))[:QUOTE],
        causes=support.causes,
    )
