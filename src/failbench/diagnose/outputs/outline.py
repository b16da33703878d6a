"""Outline: what an answer says, in which words and order, before it is set on a page."""

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

from failbench.base.vocabulary import Category
from failbench.causes.catalogue import Risk
from failbench.diagnose.answer import LogDiagnosis, Severity, level_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.names import SIGNALS
from failbench.diagnose.readers.opening import STANDARD_INPUT

# ``unknown`` is what lies outside the job, see ``docs/categories.md``: an answer, not a lack
CATEGORY_WORDS: Final[dict[Category, str]] = {
    "memory_hardware": "memory and hardware",
    "optimization": "optimization",
    "data_pipeline": "data pipeline",
    "model_software": "model and software",
    "unknown": "something outside the job",
}

SIGNAL_WORDS: Final[dict[str, str]] = {
    **{name: name.replace("_", " ") for name in SIGNALS},
    "grad_norm": "gradient norm",
}

SEVERITY_WORDS: Final[dict[Severity, str]] = {
    "critical": "the run ended or its weights are lost",
    "high": "the run trains wrongly",
    "medium": "the run trains worse or slower than it could",
    "low": "a hint",
}


def one_line(text: str) -> str:
    r"""The same, on one line.

    >>> one_line("Traceback\n  loss  3")
    'Traceback loss 3'
    """
    return " ".join(clean(text).split())


def number_words(value: float) -> str:
    """A number with four digits, which is enough to find it in the log.

    >>> number_words(11.23456), number_words(8.4e10), number_words(1200.0), number_words(-math.inf)
    ('11.23', '8.4e10', '1,200', '-inf')
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value}"
    if value == round(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    return re.sub(r"e\+?(-?)0*(\d)", r"e\1\2", f"{value:.4g}")


def percent(share: float) -> str:
    """A probability in percent, never said to be certain or impossible.

    >>> percent(0.934), percent(0.999), percent(0.0)
    ('93 %', 'over 99 %', 'under 1 %')
    """
    if share > 0.99:
        return "over 99 %"
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def sure(confidence: float) -> str:
    """A confidence in percent and in words.

    >>> sure(0.93)
    '93 % sure (high)'
    """
    return f"{percent(confidence)} sure ({level_of(confidence)})"


def signal_words(name: str) -> str:
    """A signal in words; one of the monitor's keeps its name.

    >>> signal_words("grad_norm"), signal_words("update_ratio")
    ('gradient norm', 'update_ratio')
    """
    return SIGNAL_WORDS.get(name, one_line(name))


def place_of(finding: Finding) -> str:
    """Where a finding stands, as editors and terminals follow it: ``train.log:1204``."""
    if finding.source == STANDARD_INPUT:
        return "standard input" if finding.line is None else f"line {finding.line}"
    name = one_line(finding.source)
    return name if finding.line is None else f"{name}:{finding.line}"


def measured_in(finding: Finding) -> str:
    """The value of a finding and what it was held against; empty where it is words."""
    if finding.value is None:
        return ""
    text = f"{signal_words(finding.signal)} {number_words(finding.value)}".strip()
    if finding.threshold is None:
        return text
    return f"{text}, {one_line(finding.relation)} {number_words(finding.threshold)}"


def headline(diagnosis: LogDiagnosis) -> str:
    """The answer in one line."""
    confidence = sure(diagnosis.confidence)
    if diagnosis.status == "healthy":
        return f"Healthy: the log shows no failure, {confidence}"
    if diagnosis.status == "no_training_log":
        return "No training log: what was read shows no training and no error"
    if diagnosis.status == "too_little":
        return "Too little to say: nothing was found, and what was read does not show health"
    if diagnosis.category is not None:
        return f"Failed: {CATEGORY_WORDS[diagnosis.category]}, {confidence}"
    most = max(diagnosis.categories, key=diagnosis.categories.__getitem__, default=None)
    if diagnosis.hypotheses:
        most = diagnosis.hypotheses[0].cause.category
    likeliest = "" if most is None else f"; most probable is {CATEGORY_WORDS[most]}, {confidence}"
    if diagnosis.is_odd:
        return f"Unknown: something is unusual, and need not be wrong{likeliest}"
    return f"Unknown: the log does not say what is wrong{likeliest}"


def summary(diagnosis: LogDiagnosis) -> str:
    """The answer in one or two sentences."""
    text = f"{headline(diagnosis)}."
    if not diagnosis.hypotheses:
        return text
    first = diagnosis.hypotheses[0]
    return f"{text} {_first_of(diagnosis)} ({percent(first.confidence)}): {first.cause.title}."


def _first_of(diagnosis: LogDiagnosis) -> str:
    """What the first cause is called."""
    return "Most likely cause" if diagnosis.names_cause else "First of the possible causes"


def numbered(diagnosis: LogDiagnosis) -> dict[Finding, int]:
    """Each finding once, from 1 on: the first hypothesis's, the others', and last those of none."""
    of_causes = [finding for each in diagnosis.hypotheses for finding in each.findings]
    findings = dict.fromkeys([*of_causes, *diagnosis.findings])
    return {finding: number for number, finding in enumerate(findings, start=1)}


# items that a screen has room for: findings of the first cause, further ones, further causes, and
# changes
EVIDENCE, OTHERS, CAUSES, REMEDIES = 4, 2, 3, 2
QUOTE: Final = 160  # letters of a quotation on a screen; the whole outline has all of them

RISK_WORDS: Final[dict[Risk, str]] = {
    "none": "changes no result of a healthy run",
    "low": "low risk",
    "high": "high risk: keep a copy of the checkpoint first",
}


@dataclass(frozen=True)
class Note:
    """A sentence below an item."""

    text: str
    label: str = ""
    kind: Literal["text", "quote"] = "text"


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


def sections_of(diagnosis: LogDiagnosis, *, whole: bool) -> list[Section]:
    """What an answer says, without terminal escapes, in the order in which it is read."""
    about = _health(diagnosis) if diagnosis.status == "healthy" else _cause(diagnosis)
    evidence = _evidence(diagnosis, whole=whole)
    change, others = _changes(diagnosis, whole=whole), _others(diagnosis, whole=whole)
    limits, measure = _limits(diagnosis), _measure(diagnosis)
    rest = [others, measure, change, limits]
    if diagnosis.names_cause:
        rest = [change, others, limits, measure]
    sections = [about, *evidence, *rest, _read(diagnosis, whole=whole)]
    return [section for section in sections if section.items]


def _health(diagnosis: LogDiagnosis) -> Section:
    """What a healthy log was held to be healthy by."""
    signals = ", ".join(signal_words(name) for name in diagnosis.log.present)
    read = f"It has values of: {signals}." if signals else "It has no measurements that are read."
    share = (
        "Of runs in whose logs nothing is found and as much shows health, "
        f"{percent(diagnosis.confidence)} are healthy."
    )
    return Section("What the log says", (Item((read,)), Item((share,))))


def _cause(diagnosis: LogDiagnosis) -> Section:
    if not diagnosis.hypotheses:
        return Section("", ())
    first = diagnosis.hypotheses[0]
    severity = f"{first.severity}, {SEVERITY_WORDS[first.severity]}"
    notes = (Note(first.advice.mechanism), Note(severity, "Severity"))
    title = _first_of(diagnosis)
    return Section(f"{title}, {sure(first.confidence)}", (Item((first.cause.title,), notes=notes),))


def _evidence(diagnosis: LogDiagnosis, *, whole: bool) -> tuple[Section, ...]:
    """Findings of the first cause, where the log parts from a good one, and all others."""
    numbers = numbered(diagnosis)
    own = diagnosis.hypotheses[0].findings if diagnosis.hypotheses else ()
    items = {finding: _finding(finding, numbers[finding], whole=whole) for finding in numbers}
    parted = [item for finding, item in items.items() if finding.kind == "parting"]
    further = [
        item for finding, item in items.items() if finding not in own and finding.kind != "parting"
    ]
    return (
        Section("Evidence", _cut([items[finding] for finding in own], EVIDENCE, whole=whole)),
        Section("Beside the run that worked", _cut(parted, OTHERS, whole=whole)),
        Section("Also found" if own else "Found", _cut(further, OTHERS, whole=whole)),
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


def _changes(diagnosis: LogDiagnosis, *, whole: bool) -> Section:
    """The remedies of the first cause; on a screen the first alone says all that is known of it."""
    title = "What to change" if diagnosis.names_cause else "If it is the first of these"
    remedies = [one for first in diagnosis.hypotheses[:1] for one in first.advice.remedies]
    items = []
    for number, remedy in enumerate(remedies, start=1):
        notes = [
            Note(remedy.why, "Why"),
            Note(remedy.expected, "Expect"),
            Note(remedy.verify, "Check"),
            Note(remedy.otherwise, "If not"),
        ]
        risk = [RISK_WORDS[remedy.risk]] if remedy.risk == "high" and not whole else []
        if whole:
            notes.append(Note(f"{remedy.effort}; {RISK_WORDS[remedy.risk]}", "Effort"))
        shown = tuple(notes) if whole or number == 1 else ()
        items.append(Item((remedy.change, *risk), f"{number}", shown))
    return Section(title, _cut(items, REMEDIES, whole=whole))


def _others(diagnosis: LogDiagnosis, *, whole: bool) -> Section:
    """Other causes: on a screen only where the first one is not sure."""
    others = diagnosis.hypotheses[1:]
    if not whole and others and level_of(diagnosis.hypotheses[0].confidence) == "high":
        others = ()
    numbers = numbered(diagnosis)
    items = []
    for each in others:
        speaks = ", ".join(str(numbers[finding]) for finding in each.findings)
        about = CATEGORY_WORDS[each.cause.category] + (f"; evidence {speaks}" if speaks else "")
        mechanism = (Note(each.advice.mechanism),) if whole else ()
        items.append(Item((each.cause.title,), percent(each.confidence), (*mechanism, Note(about))))
    return Section("Also possible", _cut(items, CAUSES, whole=whole))


def _limits(diagnosis: LogDiagnosis) -> Section:
    absent = ", ".join(map(signal_words, diagnosis.absent))
    sentences = [f"Not in the log: {absent}."] if absent else []
    sentences += map(one_line, diagnosis.uncertainty)
    return Section("What limits this answer", tuple(Item((each,)) for each in sentences))


def _measure(diagnosis: LogDiagnosis) -> Section:
    items = []
    for number, each in enumerate(diagnosis.measure, start=1):
        notes = [Note(each.tells, "Shows")]
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
            items.append(Item((f"{name}: {one_line(source.format)}, {lines}",), notes=notes))
    return Section("Read", tuple(items))


def _cut(items: list[Item], room: int, *, whole: bool) -> tuple[Item, ...]:
    """All, or as many as there is room for, and how many are left out."""
    left = len(items) - room
    return tuple(items) if whole or left <= 0 else (*items[:room], Item((f"and {left} more",)))
