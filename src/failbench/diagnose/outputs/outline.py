"""Outline: what an answer says and in which order, before it is set on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from failbench.causes.catalogue import Remedy, Risk
from failbench.diagnose.answer import Hypothesis, LogDiagnosis, Status, level_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.outputs.evidence import numbered
from failbench.diagnose.outputs.wording import (
    CATEGORY_WORDS,
    SEVERITY_WORDS,
    headline,
    measured_in,
    number_words,
    one_line,
    percent,
    place_of,
    signal_words,
    sure,
)
from failbench.diagnose.readers.opening import STANDARD_INPUT

EVIDENCE, OTHERS, CAUSES, REMEDIES = 4, 2, 3, 2
"""Items that a screen has room for: findings of the first cause, further ones, further causes, and
changes."""

QUOTE: Final = 160
"""Letters of a quotation on a screen; the whole outline has all of them."""

RISK_WORDS: Final[dict[Risk, str]] = {
    "none": "changes no result of a healthy run",
    "low": "low risk",
    "high": "high risk: keep a copy of the checkpoint first",
}

Kind = Literal["text", "quote"]


@dataclass(frozen=True)
class Note:
    """A sentence below an item."""

    text: str
    label: str = ""
    kind: Kind = "text"


@dataclass(frozen=True)
class Item:
    """One entry of a section."""

    head: tuple[str, ...]
    mark: str = ""
    notes: tuple[Note, ...] = ()
    evidence: int | None = None


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Outline:
    """All that an answer says."""

    status: Status
    headline: str
    sections: tuple[Section, ...]


def outline_of(diagnosis: LogDiagnosis, *, whole: bool) -> Outline:
    """What an answer says, without terminal escapes, in the order in which it is read."""
    first = diagnosis.hypotheses[0] if diagnosis.hypotheses else None
    about = [] if first is None else [_cause(diagnosis, first)]
    if diagnosis.status == "healthy":
        about = [_looked_at(diagnosis)]
    change = [] if first is None else [_changes(diagnosis, first, whole=whole)]
    others, limits, measure = (
        _others(diagnosis, whole=whole),
        _limits(diagnosis),
        _measure(diagnosis),
    )
    if diagnosis.status == "failed":
        rest = [*change, others, limits, measure]
    else:
        rest = [others, measure, *change, limits]
    sections = [*about, *_evidence(diagnosis, whole=whole), *rest, _read(diagnosis, whole=whole)]
    return Outline(
        diagnosis.status,
        headline(diagnosis),
        tuple(section for section in sections if section.items),
    )


def _looked_at(diagnosis: LogDiagnosis) -> Section:
    """What a healthy log was held to be healthy by."""
    signals = ", ".join(signal_words(name) for name in diagnosis.log.present)
    read = f"It has values of: {signals}." if signals else "It has no measurements that are read."
    share = f"Of runs in whose logs nothing was found, {percent(diagnosis.confidence)} are healthy."
    return Section("What the log says", (Item((read,)), Item((share,))))


def _cause(diagnosis: LogDiagnosis, first: Hypothesis) -> Section:
    title = "Most likely cause" if diagnosis.status == "failed" else "First of the possible causes"
    severity = f"{first.severity}, {SEVERITY_WORDS[first.severity]}"
    notes = (Note(first.advice.mechanism), Note(severity, "Severity"))
    return Section(f"{title}, {sure(first.confidence)}", (Item((first.cause.title,), notes=notes),))


def _evidence(diagnosis: LogDiagnosis, *, whole: bool) -> tuple[Section, Section]:
    """Findings of the first cause, and those of others or none."""
    numbers = numbered(diagnosis)
    own = diagnosis.hypotheses[0].findings if diagnosis.hypotheses else ()
    others = [finding for finding in numbers if finding not in own]
    room, room_for_others = (len(own), len(others)) if whole else (EVIDENCE, OTHERS)
    items = [_finding(finding, numbers[finding], whole=whole) for finding in own]
    further = [_finding(finding, numbers[finding], whole=whole) for finding in others]
    return (
        Section("Evidence", _cut(items, room)),
        Section("Also found" if own else "Found", _cut(further, room_for_others)),
    )


def _finding(finding: Finding, number: int, *, whole: bool) -> Item:
    step = "" if finding.step is None else f"step {finding.step}"
    parts = (place_of(finding), step, measured_in(finding))
    quote = one_line(finding.quote)
    if not whole and len(quote) > QUOTE:
        quote = f"{quote[:QUOTE]} …"
    notes = [Note(one_line(finding.statement))]
    if quote:
        notes.append(Note(quote, kind="quote"))
    return Item(tuple(part for part in parts if part), f"{number}", tuple(notes), number)


def _changes(diagnosis: LogDiagnosis, first: Hypothesis, *, whole: bool) -> Section:
    """The first remedy with all that is known of it, and the others in a line each."""
    remedies = first.advice.remedies
    title = "What to change" if diagnosis.status == "failed" else "If it is the first of these"
    items = [
        _remedy(remedy, number, whole=whole) for number, remedy in enumerate(remedies, start=1)
    ]
    return Section(title, _cut(items, len(items) if whole else REMEDIES))


def _remedy(remedy: Remedy, number: int, *, whole: bool) -> Item:
    """A change; on a screen the first alone says more, and only high risks are named."""
    risk = (RISK_WORDS[remedy.risk],) if remedy.risk == "high" and not whole else ()
    notes = [
        Note(remedy.why, "Why"),
        Note(remedy.expected, "Expect"),
        Note(remedy.verify, "Check"),
        Note(remedy.otherwise, "If not"),
    ]
    if whole:
        notes.append(Note(f"{remedy.effort}; {RISK_WORDS[remedy.risk]}", "Effort"))
    shown = tuple(notes) if whole or number == 1 else ()
    return Item((remedy.change, *risk), f"{number}", shown)


def _others(diagnosis: LogDiagnosis, *, whole: bool) -> Section:
    """Other causes: on a screen only where the first one is not sure."""
    others = diagnosis.hypotheses[1:]
    if not whole and others and level_of(diagnosis.hypotheses[0].confidence) == "high":
        return Section("Also possible", ())
    numbers = numbered(diagnosis)
    items = []
    for each in others:
        speaks = ", ".join(str(numbers[finding]) for finding in each.findings)
        about = CATEGORY_WORDS[each.cause.category] + (f"; evidence {speaks}" if speaks else "")
        mechanism = (Note(each.advice.mechanism),) if whole else ()
        items.append(Item((each.cause.title,), percent(each.confidence), (*mechanism, Note(about))))
    return Section("Also possible", _cut(items, len(items) if whole else CAUSES))


def _limits(diagnosis: LogDiagnosis) -> Section:
    items = []
    if diagnosis.absent:
        items.append(Item((f"Not in the log: {', '.join(map(signal_words, diagnosis.absent))}.",)))
    items += [Item((one_line(sentence),)) for sentence in diagnosis.uncertainty]
    return Section("What limits this answer", tuple(items))


def _measure(diagnosis: LogDiagnosis) -> Section:
    items = []
    for number, each in enumerate(diagnosis.measure, start=1):
        notes = [Note(each.tells, "Tells")]
        if each.invariants:
            notes.append(Note(", ".join(each.invariants), "failbench's monitor checks it"))
        items.append(Item((each.measure,), f"{number}", tuple(notes)))
    return Section("What to measure next", tuple(items))


def _read(diagnosis: LogDiagnosis, *, whole: bool) -> Section:
    """What was read; on a screen only files of which there is something to know."""
    items = []
    for source in diagnosis.log.sources:
        lines = f"{number_words(source.lines)} line" + ("" if source.lines == 1 else "s")
        name = one_line(source.name) if source.name != STANDARD_INPUT else "standard input"
        notes = tuple(Note(one_line(note)) for note in source.notes)
        if whole or notes:
            head = f"{name}: {one_line(source.format)}, {lines}"
            items.append(Item((head,), notes=notes))
    return Section("Read", tuple(items))


def _cut(items: list[Item], room: int) -> tuple[Item, ...]:
    """As many as there is room for, and how many are left out."""
    left = len(items) - room
    if left <= 0:
        return tuple(items)
    return (*items[:room], Item((f"and {left} more",)))
