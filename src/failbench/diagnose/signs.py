"""Signs: all that may speak for a cause, of users' logs and of those the model is fitted to.

What is evidence by itself comes with its finding, and a check that broke with the place where it
did so first.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from failbench.base.records import Record
from failbench.base.vocabulary import Category
from failbench.causes.support import Strength, places_of, supports
from failbench.diagnose.courses import Course, Measured, measured
from failbench.diagnose.curves import curves_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.log import Event, Log, known
from failbench.diagnose.readers.names import BYTES, SIGNALS
from failbench.diagnose.readers.numbers import NOWHERE
from failbench.diagnose.readers.traps import traps
from failbench.diagnose.series import GAP, CheckBound, CheckedSeries, checked, checks, series_of
from failbench.messages.catalogue import message_of
from failbench.monitor.breaks import FLOORS, SMALLEST, Break, breaks
from failbench.monitor.endings import ENDINGS, ending_of
from failbench.monitor.history import History
from failbench.monitor.invariants import CATALOGUE, RATIOS, Bound
from failbench.monitor.signals import SIGNALS as MONITORED

# a message that is known, and the kind of an event that is not; where an error was raised, and
# what called that; a trap, or a course that is a fault; one that shows that something got better
# or is sound, or that could not be measured; the size of a block that memory had no room for; a
# check; a signal that is not logged; of a monitor's log its level, what broke, of what family the
# first of these are, how the run ended and in which phase, and an ending that is evidence
SignKind = Literal[
    "message", "event", "place", "around", "trap", "progress", "sound", "unmeasured", "allocation",
    "check", "absent", "monitored", "invariant", "first", "end", "phase", "ending",
]  # fmt: skip

LOGIC_ONLY: Final[Mapping[str, Bound]] = {}
# what each further break is worth of the one before: the later, the more of what came before it
LATER: Final = 0.5
# the innermost place of a traceback, and the one around it
PLACES: Final[tuple[SignKind, ...]] = ("place", "around")
FIRST_STEPS: Final = 3

# causes of a block that is out of proportion
BLOCK_TOO_LARGE: Final = (
    "tensor_blows_up", "batch_exceeds_memory", "evaluation_exceeds_memory", "model_exceeds_memory",
)  # fmt: skip

# of what is held: a block that is larger than everything before it is of no batch like others
OUT_OF_PROPORTION: Final = 1.0
VALIDATION: Final = "validation_loss"
# signals whose absence is a sign: it says what a log could not show
ABSENT: Final = (*SIGNALS, VALIDATION)

# what PyTorch's allocators, NumPy and TensorFlow say of a block and of the memory in use; from
# ``c10/cuda/CUDACachingAllocator.cpp``, ``c10/core/impl/alloc_cpu.cpp`` and ``numpy.exceptions``
_REQUESTED: Final = re.compile(
    r"(?:[Tt]ried to allocate|Unable to allocate|trying to allocate|failed to allocate)"
    r"\s(?P<size>\d{1,20}(?:\.\d{1,9})?)\s?(?P<unit>[KMGT]?i?B|bytes)"
)
_HELD: Final = re.compile(
    r"(?:this process has|[Oo]f the allocated memory)\s(?P<size>\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(?P<unit>[KMGT]?i?B)"
    r"|(?P<old>\d{1,9}(?:\.\d{1,9})?)\s?(?P<old_unit>[KMGT]?i?B) already allocated"
)

QUOTE: Final = 300  # letters of a log's words that are quoted

# what is computed of a whole series, and stands in no line
_OF_WHOLE: Final = {
    "climb": "the correlation of its values with time",
    "since_best": "the correlation of its values with time since the best one",
}

_UNIT: Final = {signal.name: signal.unit for signal in MONITORED}
_UNITS: Final = {"B": 1.0, "bytes": 1.0} | BYTES
_BYTES: Final = 2.0**20  # a training holds more than this; a smaller number is in another unit


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


Observed = tuple[Sign, Finding | None]


def signs_of(log: Log, fitted: Mapping[str, Bound] = LOGIC_ONLY) -> tuple[Sign, ...]:
    """All signs of a log, each once."""
    return distinct(sign for sign, _ in observed(log, fitted))


def distinct(signs: Iterable[Sign]) -> tuple[Sign, ...]:
    """Each sign once, as it was first, where it was last."""
    return tuple({(sign.kind, sign.id): sign for sign in reversed([*signs])}.values())[::-1]


def observed(log: Log, fitted: Mapping[str, Bound] = LOGIC_ONLY) -> Iterator[Observed]:
    """All signs of a log, with the findings that need no bound of a check."""
    yield from _of_events(log)
    if allocation := _block_too_large(log):
        yield Sign("allocation", "out_of_proportion", causes=BLOCK_TOO_LARGE), allocation
    for trap in traps(log):
        finding = Finding(
            trap.kind, "trap", "circumstantial", trap.meaning, log.sources[trap.source].name,
            trap.line, trap.step, causes=trap.causes,
        )  # fmt: skip
        yield _told("trap", finding), finding
    for course in measured(curves_of(log)):
        yield from _of_course(log, course)
    for each in checked(log):
        check, amount = each.check, each.most_extreme()
        if amount is not None:
            yield Sign("check", check.id, check.strength, check.causes, amount=amount), None
    if _fails_at_start(log):
        yield Sign("event", "at_start"), None
    validation = (VALIDATION,) if len(log.series("loss", "validation")) else ()
    present = (*log.present, *validation)
    yield from ((Sign("absent", name), None) for name in ABSENT if name not in present)
    if log.history is not None:
        source = next(each.name for each in log.sources if each.format == "monitor")
        yield from _of_history(source, log.history, breaks(log.history, CATALOGUE, fitted))


def _of_events(log: Log) -> Iterator[Observed]:
    """What the log says in words: known messages, unknown ones, and where errors were raised."""
    for event in log.events:
        where = log.sources[event.source].name, event.line or None, _step_at(log, event)
        # the name of a signal is ours, and stands nowhere in the log
        name = event.name if event.kind != "death" else ""
        quote = ": ".join(filter(None, (name, event.message)))[:QUOTE]
        said = message_of(event.name, event.message)
        if said is not None:
            finding = Finding(
                said.id, "message", said.strength, said.meaning, *where,
                quote=quote, causes=said.causes,
            )  # fmt: skip
            is_warning = event.kind == "warning"
            yield _told("message", finding, said.category, is_warning=is_warning), finding
        elif event.kind != "warning":
            statement = (
                "An error ended the run whose message is not in the catalogue."
                if event.kind == "exception"
                else "The process was ended, and the log does not say by whom."
            )
            id_ = f"{event.kind}_not_known"
            finding = Finding(id_, "message", "circumstantial", statement, *where, quote=quote)
            yield Sign("event", event.kind), finding
        raised = places_of(event.frames) if event.kind == "exception" else ()
        for place, kind in zip(raised, PLACES, strict=False):
            finding = Finding(
                place.id, "place", "circumstantial", place.statement, *where,
                quote=event.frames[-1][:QUOTE], causes=place.causes,
            )  # fmt: skip
            yield _told(kind, finding, place.component), finding


def _of_course(log: Log, each: Measured | Course) -> Iterator[Observed]:
    """The sign of a course that was not measured, or that holds."""
    if isinstance(each, Course):
        yield Sign("unmeasured", each.id), None
        return
    kind = each.course.kind
    if each.holds and kind == "fault":
        finding = _course_finding(log, each)
        yield _told("trap", finding), finding
    if each.holds and kind != "fault":
        yield Sign(kind, each.course.id, amount=each.amount), None


def _course_finding(log: Log, each: Measured) -> Finding:
    """What a course shows: at one value of a line, or as a whole."""
    course, curve, at = each.course, each.curve, each.place
    line, step = known(curve.lines[at]), float(curve.steps[at])
    is_lone = course.at in ("lost", "lowest") and line is not None
    values = curve.values * curve.unit
    said = (
        f"{values[at]:.4g}" if is_lone else f"{values[0]:.4g} at first and {values[-1]:.4g} at last"
    )
    return Finding(
        course.id, "check", course.strength, f"{course.statement}: {curve.name} is {said}.",
        log.sources[curve.source].name, line, int(step) if step.is_integer() else None,
        curve.name if is_lone else f"{curve.name}, its course",
        float(values[at]) if is_lone else None, causes=course.causes,
    )  # fmt: skip


def _told(
    kind: SignKind, finding: Finding, category: Category | None = None, *, is_warning: bool = False
) -> Sign:
    """The sign that a finding is."""
    about = finding.id, finding.strength, finding.causes, category
    return Sign(kind, *about, is_warning=is_warning)


def _step_at(log: Log, event: Event) -> int | None:
    """The last step that was logged before the event in the same source."""
    rows = log.rows
    is_before = (rows.source == event.source) & (rows.step != NOWHERE)
    if event.line:
        is_before &= rows.line <= event.line
    before = rows.step[is_before]
    return int(before[-1]) if len(before) else None


def _fails_at_start(log: Log) -> bool:
    """Whether an error was raised within the first steps: what is wrong is there from the start."""
    last = log.rows.step.max(initial=NOWHERE)
    is_error = any(event.kind == "exception" for event in log.events)
    return is_error and bool(NOWHERE < last < FIRST_STEPS)


def _of_history(source: str, history: History, broken: tuple[Break, ...]) -> Iterator[Observed]:
    """What broke in a monitor's log, what of it first, and how the run ended."""
    yield Sign("monitored", history.level), None
    of_invariants, end = supports("invariant"), history.end
    for rank, each in enumerate(broken):
        invariant, support = each.invariant, of_invariants[each.invariant.id]
        is_above = not each.compared < each.bound.low
        threshold = _threshold(each, each.bound.high if is_above else each.bound.low)
        said = f"{invariant.signal} is {each.value:.6g}. What must hold: {invariant.statement}"
        finding = Finding(
            invariant.id, "invariant", support.strength, said, source, None, each.step,
            invariant.signal, each.value, "above" if is_above else "below", threshold,
            causes=support.causes,
        )  # fmt: skip
        told = _told("invariant", finding, invariant.component)
        yield replace(told, amount=LATER**rank), finding
        if each.step == broken[0].step:
            yield Sign("first", invariant.family, category=invariant.component), None
    if not end.failed:
        return
    yield Sign("end", end.kind), None
    yield Sign("phase", end.phase), None
    ending = ending_of(end, {each.invariant.id for each in broken}, ENDINGS)
    if ending is not None:
        support = supports("ending")[ending.id]
        finding = Finding(
            ending.id, "ending", support.strength,
            f"In the phase {end.phase}: {ending.statement}", source, None, end.step,
            quote=": ".join(filter(None, (end.error, end.message)))[:QUOTE], causes=support.causes,
        )  # fmt: skip
        yield _told("ending", finding, ending.component), finding


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


def _block_too_large(log: Log) -> Finding | None:
    """The last block that memory had no room for, if it alone is larger than all that was held."""
    for event in reversed(log.events):
        asked = _REQUESTED.search(event.message)
        held = (_held_in(event.message) or _held_before(log)) if asked else None
        if not asked or not held:
            continue
        size = float(asked["size"]) * _UNITS[asked["unit"]]
        if size <= OUT_OF_PROPORTION * held:
            return None
        said = f"The block that was asked for, {size:.3g} bytes, is larger than all that was held"
        return Finding(
            "allocation_out_of_proportion", "allocation", "circumstantial", f"{said}, {held:.3g}.",
            log.sources[event.source].name, event.line or None, _step_at(log, event),
            "requested bytes", size, "above", held * OUT_OF_PROPORTION, causes=BLOCK_TOO_LARGE,
        )  # fmt: skip
    return None


def _held_in(message: str) -> float | None:
    said = _HELD.search(message)
    if said is None:
        return None
    size, unit = said["size"] or said["old"], said["unit"] or said["old_unit"]
    return float(size) * _UNITS[unit]


def _held_before(log: Log) -> float | None:
    """The last memory that was logged, where it is in bytes: a number without a unit may be any."""
    memory = series_of(log).get("memory")
    return float(memory.values[-1]) if memory and memory.values[-1] > _BYTES else None


class Bounds(Record):
    """Bounds of checks: of the benchmark's loop, and of all loops whose healthy logs are known.

    The first count where all six signals are logged, as that loop does, and the others elsewhere.
    """

    complete: dict[str, CheckBound]
    other: dict[str, CheckBound]

    def of(self, signs: Iterable[Sign]) -> Mapping[str, CheckBound]:
        """Those that count for a log."""
        return self.other if lacks_signal(signs) else self.complete


def lacks_signal(signs: Iterable[Sign]) -> bool:
    """Whether one of the six signals is not logged."""
    return any(sign.kind == "absent" and sign.id in SIGNALS for sign in signs)


def is_monitored(signs: Iterable[Sign]) -> bool:
    """Whether a log is a monitor's, or has one beside it."""
    return any(sign.kind == "monitored" for sign in signs)


def says_end(signs: Iterable[Sign]) -> bool:
    """Whether a log says that its run ended before its time."""
    return any(sign.kind in ("message", "event") and not sign.is_warning for sign in signs)


def any_alarm(signs: Iterable[Sign], bounds: Mapping[str, CheckBound]) -> bool:
    """Whether a sign alarms by itself, in a log that is no monitor's."""
    return any(_alarms(sign, bounds) for sign in signs)


def _alarms(sign: Sign, bounds: Mapping[str, CheckBound]) -> bool:
    """Whether a sign alone says that something is wrong: a trap does that speaks for a cause."""
    if sign.kind == "check":
        return checks()[sign.id].shows == "failure" and breaks_bound(sign, bounds)
    if sign.kind == "message":
        return sign.strength == "direct"
    return sign.kind == "trap" and bool(sign.causes)


def is_odd(
    signs: Iterable[Sign], bounds: Mapping[str, CheckBound], by_nature: Collection[str] = ()
) -> bool:
    """Whether a signal is as in no healthy log of the benchmark, which others' may be.

    Or something broke that says by itself what is wrong, and hardly ever breaks in healthy runs.
    """
    return any(
        checks()[sign.id].shows == "oddity" and breaks_bound(sign, bounds)
        if sign.kind == "check"
        else sign.kind == "invariant" and sign.strength == "direct" and sign.id not in by_nature
        for sign in signs
    )


def breaks_bound(sign: Sign, bounds: Mapping[str, CheckBound]) -> bool:
    """Whether the sign of a check lies beyond its bound; without one nothing does."""
    return sign.id in bounds and sign.amount > bounds[sign.id].limit
