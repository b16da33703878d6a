"""Document: the answer as JSON, for programs.

``data/diagnosis.schema.json`` is its JSON Schema (draft 2020-12). Numbers of a log may be NaN or
infinite, which JSON cannot write: they are the strings ``nan``, ``inf`` and ``-inf``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, FiniteFloat

from failbench.base.records import Record
from failbench.base.vocabulary import Category
from failbench.causes.catalogue import Effort, Measurement, Risk
from failbench.causes.support import Strength
from failbench.diagnose.answer import (
    Hypothesis,
    Level,
    LogDiagnosis,
    Severity,
    Status,
    level_of,
)
from failbench.diagnose.finding import Finding, FindingKind
from failbench.diagnose.outputs.evidence import numbered, of_no_cause
from failbench.diagnose.outputs.wording import one_line, summary
from failbench.diagnose.readers.lines import clean

FORMAT: Final = 1
"""Of the document; it grows when a field is removed or changes its meaning."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Probability = Annotated[float, Field(ge=0, le=1)]
NotFinite = Literal["nan", "inf", "-inf"]
Number = FiniteFloat | NotFinite


def described(description: str) -> Any:
    """A field that says what it is."""
    return Field(description=description)


class EvidenceRecord(Record):
    """One item of evidence, and where it can be checked."""

    number: int = described(
        "Its number, from 1: the same on the page, in curves and in the report."
    )
    id: str = described("Name of the message, check or invariant; the same for all logs.")
    kind: FindingKind = described("What it is.")
    strength: Strength = described(
        "Direct evidence says what is wrong; circumstantial evidence has other causes too."
    )
    statement: str = described("What was found, as a sentence with its numbers.")
    source: str = described("File it was found in; '-' is standard input.")
    line: int | None = described("Line of the file, from 1; null where the format has no lines.")
    step: int | None = described("Training step; null where the log says none.")
    signal: str = described("What the value is of; empty where there is none.")
    value: Number | None = described(
        "What was found; the string nan, inf or -inf if it is not finite, null if it is words."
    )
    relation: str = described(
        "How the value stands to the threshold: above, below, equals, or empty."
    )
    threshold: Number | None = described(
        "What it was held against; the string nan, inf or -inf if it is not finite, or null."
    )
    quote: str = described(
        "Words of the log, without terminal escapes; empty where it is a number."
    )


class RootCause(Record):
    """A cause that the log speaks for."""

    rank: int = described("1 is the cause that is named.")
    id: str = described("Name of the cause; the same for all logs.")
    issue: str = described("What is wrong, in a few words.")
    category: Category = described("The component that the cause lies in.")
    severity: Severity = described(
        "critical: the run ended or its weights are lost; high: it trains wrongly; "
        "medium: it trains worse or slower; low: a hint."
    )
    confidence: Probability = described("Probability that it is the cause.")
    confidence_level: Level = described("high above 0.9, medium from 0.7 to 0.9, low below.")
    mechanism: str = described("How it makes a run fail.")
    evidence: tuple[EvidenceRecord, ...] = described("What speaks for it, the strongest first.")
    fix: str = described("The first change to make.")


class Fix(Record):
    """Something to change, and how to see that it was right."""

    priority: int = described("1 is to be tried first.")
    cause: str = described("Name of the cause that it mends.")
    fix: str = described("What to do, as an instruction.")
    why: str = described("How it acts on the cause.")
    expected_impact: str = described("What the metric does if it was right.")
    metric: str = described("Which metric shows it.")
    effort: Effort = described("What it takes.")
    risk: Risk = described("What it may spoil; none changes no result of a healthy run.")
    verification: str = described("How to check it.")
    if_ineffective: str = described("What to try, or what is known, if it does not help.")


class NextStep(Record):
    """Something to measure that tells one cause from others."""

    measure: str = described("What to do, as an instruction.")
    tells: str = described("What its result says.")
    invariants: tuple[str, ...] = described("Invariants of failbench's monitor that would tell.")


class Signals(Record):
    """What the log shows."""

    present: tuple[str, ...] = described("Signals that are logged at least once.")
    absent: tuple[str, ...] = described("Signals that would have been read and are not there.")


class SourceRecord(Record):
    """A file that was read."""

    name: str = described("Its path below what was asked for; '-' is standard input.")
    format: str = described("What it was read as.")
    lines: int = described("How many lines it has.")
    notes: tuple[str, ...] = described("What must be known of how it was read.")


class Document(Record):
    """What failbench makes of the log of a training run."""

    format: Literal[1] = described("Version of this format.")
    status: Status = described(
        "healthy: the log shows no failure, and a loss that falls; failed: the category is named; "
        "unknown: the log does not say whose cause it is, or nothing was found and it shows no "
        "health either."
    )
    category: Category | None = described("Whose cause it is; null unless the status is failed.")
    confidence: Probability = described(
        "Probability of the category, or of the most probable one where none is named; of a "
        "healthy run the share of runs without such findings that are healthy."
    )
    confidence_level: Level = described("high above 0.9, medium from 0.7 to 0.9, low below.")
    categories: dict[Category, Probability] = described("Probability of every category.")
    summary: str = described("The answer in one or two sentences.")
    root_causes: tuple[RootCause, ...] = described(
        "The first lies in the category that is named or the most probable, others by confidence; "
        "empty where nothing was found."
    )
    recommended_fixes: tuple[Fix, ...] = described(
        "What to change, for the most probable cause first, in the order in which to try it."
    )
    quick_wins: tuple[str, ...] = described(
        "Changes among them that are a setting or a line and spoil nothing that matters."
    )
    uncertainty_flags: tuple[str, ...] = described("What limits the answer.")
    next_steps: tuple[NextStep, ...] = described("What would settle it.")
    other_evidence: tuple[EvidenceRecord, ...] = described(
        "What was found and speaks for none of the causes."
    )
    signals: Signals = described("What the log shows, and what it does not.")
    sources: tuple[SourceRecord, ...] = described("What was read.")
    analysis_artifacts: dict[str, str] = described("Files that were written, by what they are.")


def document_of(diagnosis: LogDiagnosis, artifacts: Mapping[str, str] | None = None) -> Document:
    """The answer as a document.

    Parameters
    ----------
    diagnosis
        The answer.
    artifacts
        Paths of files that were written beside it, by what they are: ``plot``, ``report``.
    """
    numbers = numbered(diagnosis)
    fixes = _fixes(diagnosis.hypotheses)
    return Document(
        format=FORMAT,
        status=diagnosis.status,
        category=diagnosis.category,
        confidence=diagnosis.confidence,
        confidence_level=diagnosis.level,
        categories=diagnosis.categories,
        summary=summary(diagnosis),
        root_causes=tuple(
            _root_cause(rank, hypothesis, numbers)
            for rank, hypothesis in enumerate(diagnosis.hypotheses, start=1)
        ),
        recommended_fixes=fixes,
        quick_wins=_quick_wins(diagnosis.hypotheses),
        uncertainty_flags=tuple(map(one_line, diagnosis.uncertainty)),
        next_steps=tuple(_next_step(measurement) for measurement in diagnosis.measure),
        other_evidence=tuple(
            _evidence(finding, numbers[finding]) for finding in of_no_cause(diagnosis)
        ),
        signals=Signals(
            present=diagnosis.log.present, absent=tuple(map(one_line, diagnosis.absent))
        ),
        sources=tuple(
            SourceRecord(
                name=one_line(source.name),
                format=one_line(source.format),
                lines=source.lines,
                notes=tuple(map(one_line, source.notes)),
            )
            for source in diagnosis.log.sources
        ),
        analysis_artifacts={name: clean(path) for name, path in (artifacts or {}).items()},
    )


def json_of(document: Document) -> str:
    """The document as JSON that any terminal and parser takes: ASCII, and finite numbers alone."""
    return json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False)


def schema() -> dict[str, Any]:
    """The JSON Schema of the document, as ``data/diagnosis.schema.json`` holds it."""
    return {"$schema": DIALECT, **Document.model_json_schema(mode="serialization")}


def _root_cause(rank: int, hypothesis: Hypothesis, numbers: Mapping[Finding, int]) -> RootCause:
    return RootCause(
        rank=rank,
        id=hypothesis.cause.id,
        issue=hypothesis.cause.title,
        category=hypothesis.cause.category,
        severity=hypothesis.severity,
        confidence=hypothesis.confidence,
        confidence_level=level_of(hypothesis.confidence),
        mechanism=hypothesis.advice.mechanism,
        evidence=tuple(_evidence(finding, numbers[finding]) for finding in hypothesis.findings),
        fix=hypothesis.advice.remedies[0].change,
    )


def _evidence(finding: Finding, number: int) -> EvidenceRecord:
    return EvidenceRecord(
        number=number,
        id=one_line(finding.id),
        kind=finding.kind,
        strength=finding.strength,
        statement=one_line(finding.statement),
        source=one_line(finding.source),
        line=finding.line,
        step=finding.step,
        signal=one_line(finding.signal),
        value=_number(finding.value),
        relation=one_line(finding.relation),
        threshold=_number(finding.threshold),
        quote=clean(finding.quote),
    )


def _fixes(hypotheses: tuple[Hypothesis, ...]) -> tuple[Fix, ...]:
    remedies = [(each.cause.id, remedy) for each in hypotheses for remedy in each.advice.remedies]
    return tuple(
        Fix(
            priority=priority,
            cause=cause,
            fix=remedy.change,
            why=remedy.why,
            expected_impact=remedy.expected,
            metric=remedy.metric,
            effort=remedy.effort,
            risk=remedy.risk,
            verification=remedy.verify,
            if_ineffective=remedy.otherwise,
        )
        for priority, (cause, remedy) in enumerate(remedies, start=1)
    )


def _quick_wins(hypotheses: tuple[Hypothesis, ...]) -> tuple[str, ...]:
    """Quick changes, each once; none that may spoil the state of the training."""
    remedies = [remedy for each in hypotheses for remedy in each.advice.remedies]
    quick = [each.change for each in remedies if each.quick and each.risk != "high"]
    return tuple(dict.fromkeys(quick))


def _next_step(measurement: Measurement) -> NextStep:
    return NextStep(
        measure=measurement.measure, tells=measurement.tells, invariants=measurement.invariants
    )


def _number(value: float | None) -> float | NotFinite | None:
    if value is None or math.isfinite(value):
        return value
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"
