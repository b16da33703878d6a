"""Findings: the signs of a log as evidence, each with the place where it can be checked."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np

from failbench.causes.support import places_of, supports
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.log import NOWHERE, Event, Log, known
from failbench.diagnose.readers.traps import Trap
from failbench.diagnose.series import GAP, CheckBound, CheckedSeries
from failbench.diagnose.signs import BLOCK_TOO_LARGE, OUT_OF_PROPORTION, PLACES, block_too_large
from failbench.messages.catalogue import message_of
from failbench.monitor.breaks import FLOORS, SMALLEST, Break
from failbench.monitor.endings import Ending
from failbench.monitor.history import History
from failbench.monitor.invariants import RATIOS
from failbench.monitor.signals import SIGNALS

QUOTE: Final = 300  # letters of a log's words that are quoted

# what is computed of a whole series, and stands in no line
_OF_WHOLE: Final = {
    "climb": "the correlation of its values with time",
    "since_best": "the correlation of its values with time since the best one",
}

_UNIT: Final = {signal.name: signal.unit for signal in SIGNALS}
# relative distance of a value from the number in its line: what six printed digits may lose
CLOSE: Final = 1e-3
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_WORD: Final = re.compile(r"\w+")
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_UNITS: Final = (1.0, 1e3, 1e6, 1e9, 2.0**10, 2.0**20, 2.0**30)
_WORDS: Final = 8  # words of a quote that are looked up


def check_findings(
    log: Log, checked: Iterable[CheckedSeries], bounds: Mapping[str, CheckBound]
) -> Iterator[Finding]:
    """The checks that broke, each where it did so first."""
    for each in checked:
        beyond = np.flatnonzero(each.lasting() > bounds[each.check.id].limit)
        if len(beyond):
            limit = each.check.sign * bounds[each.check.id].limit
            yield _check_finding(log, each, int(beyond[0]), limit)


def _check_finding(log: Log, each: CheckedSeries, place: int, limit: float) -> Finding:
    check, held, series = each.check, each.held, each.series
    value, threshold, relation = float(series.logged[place]), math.nan, str(check.relation)
    amount, reference = float(held.amounts[place]), float(held.references[place])
    signal = "validation_loss" if check.signal == GAP else check.signal
    match check.against:
        case "not_finite":
            relation, said = "", f": {value}."
        case "zero" | "zero_inside":
            relation, threshold, said = "equals", 0.0, "."
        case "faded_share":
            relation, threshold = "below", reference
            said = f": {value:.4g}, below {threshold:.4g}."
        case "climb" | "since_best":
            value, threshold, words = amount, limit, _OF_WHOLE[check.against]
            signal = f"{check.signal}, {words}"
            said = f": {words} is {value:.3g}, {relation} {limit:.3g}."
        case "progress" | "any_progress":
            relation, threshold = "above", reference * (1 - limit)
            said = (
                f": by {amount:.1%} of {reference:.4g}, and healthy logs by {limit:.1%} at least."
            )
        case _:
            # of a difference, the bound is as far from the logged number as from the difference
            offset = value - float(series.values[place])
            threshold = held.limit(place, limit) + offset
            said = (
                f": {value:.4g}, {relation} the {threshold:.4g} that healthy logs would allow here."
            )
    return Finding(
        check.id, "check", check.strength, check.statement + said, log.sources[series.source].name,
        known(series.lines[place]), known(series.steps[place]), signal, value, relation,
        None if math.isnan(threshold) else threshold, causes=check.causes,
    )  # fmt: skip


def event_findings(log: Log) -> Iterator[Finding]:
    """What the log says in words: known messages, unknown ones, and where errors were raised."""
    seen: set[str] = set()
    for event in log.events:
        where = log.sources[event.source].name, event.line or None, _step_at(log, event)
        # the name of a signal is ours, and stands nowhere in the log
        name = event.name if event.kind != "death" else ""
        quote = ": ".join(filter(None, (name, event.message)))[:QUOTE]
        said = message_of(event.name, event.message)
        if said is not None and said.id not in seen:
            seen.add(said.id)
            yield Finding(
                said.id, "message", said.strength, said.meaning, *where,
                quote=quote, causes=said.causes,
            )  # fmt: skip
        elif said is None and event.kind != "warning" and event.kind not in seen:
            seen.add(event.kind)
            statement = (
                "An error ended the run whose message is not in the catalogue."
                if event.kind == "exception"
                else "The process was ended, and the log does not say by whom."
            )
            id_ = f"{event.kind}_not_known"
            yield Finding(id_, "message", "circumstantial", statement, *where, quote=quote)
        raised = places_of(event.frames) if event.kind == "exception" else ()
        for place in raised[: len(PLACES)]:
            if place.id not in seen:
                seen.add(place.id)
                yield Finding(
                    place.id, "place", "circumstantial", place.statement, *where,
                    quote=event.frames[-1][:QUOTE], causes=place.causes,
                )  # fmt: skip


def allocation_findings(log: Log) -> Iterator[Finding]:
    """The block that memory had no room for, where it is out of proportion."""
    allocation = block_too_large(log)
    if allocation is None:
        return
    event, requested, held = allocation.event, allocation.requested, allocation.held
    said = f"The block that was asked for, {requested:.3g} bytes, is larger than all that was held"
    yield Finding(
        "allocation_out_of_proportion", "allocation", "circumstantial", f"{said}, {held:.3g}.",
        log.sources[event.source].name, event.line or None, _step_at(log, event),
        "requested bytes", requested, "above", held * OUT_OF_PROPORTION, causes=BLOCK_TOO_LARGE,
    )  # fmt: skip


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
    said = f"In the phase {end.phase}: {ending.statement}"
    return Finding(
        ending.id, "ending", support.strength, said, source, None, end.step,
        quote=": ".join(filter(None, (end.error, end.message)))[:QUOTE], causes=support.causes,
    )  # fmt: skip


def look_up(finding: Finding, log: Log, files: Mapping[str, bytes]) -> tuple[str, bool]:
    """A finding's ``line``, ``step``, or ``course`` of a series, and whether it is there."""
    if "," in finding.signal:
        return "course", True
    content = next((text for name, text in files.items() if name.endswith(finding.source)), b"")
    written = content.decode("utf-8", errors="replace")
    if finding.quote:
        text = " ".join(_ESCAPE.sub("", written).splitlines())
        words = _WORD.findall(finding.quote)[:_WORDS]
        return "line", finding.line is not None and all(word in text for word in words)
    if finding.line is not None and finding.value is not None:
        line = _THOUSANDS.sub("", written.split("\n")[finding.line - 1])
        return "line", any(_same(finding.value, number) for number in _NUMBER.findall(line))
    return "line" if finding.line is not None else "step", _is_row(finding, log)


def _same(value: float, text: str) -> bool:
    number = float(text)
    if math.isnan(value) or math.isnan(number):
        return math.isnan(value) and math.isnan(number)
    if math.isinf(value):
        return value == number
    alike = (number * unit for unit in _UNITS)
    return any(math.isclose(value, each, rel_tol=CLOSE, abs_tol=1e-12) for each in alike) or (
        number > 0 and math.isclose(value, math.log(number), rel_tol=CLOSE)  # of a perplexity
    )


def _is_row(finding: Finding, log: Log) -> bool:
    """Whether a row of the log is at the finding's place, with its value where it has one."""
    at = np.ones(len(log.rows), dtype=bool)
    if finding.line is not None:
        at &= log.rows.line == finding.line
    if finding.step is not None:
        at &= log.rows.step == finding.step
    if finding.value is None or not finding.signal:
        return bool(at.any())
    signal = "loss" if finding.signal == "validation_loss" else finding.signal
    values = log.rows[signal][at & log.rows.has(signal)].tolist()
    return any(_same(finding.value, repr(each)) for each in values)
