"""Document: the answer as JSON; no number that JSON cannot write, no terminal escape of a log."""

import json
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat

from failbench.base.records import Record
from failbench.base.vocabulary import Category
from failbench.causes.catalogue import Effort, Risk
from failbench.causes.support import Strength
from failbench.diagnose.answer import Level, LogDiagnosis, Severity, Status, level_of
from failbench.diagnose.finding import Finding, FindingKind
from failbench.diagnose.outputs.outline import numbered, one_line, summary
from failbench.diagnose.readers.lines import clean

FORMAT: Final = 1  # of the document; it grows when a field is removed or changes its meaning


def _number(value: object) -> object:
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else f"{value}"


Probability = Annotated[float, Field(ge=0, le=1)]
Number = Annotated[FiniteFloat | Literal["nan", "inf", "-inf"] | None, BeforeValidator(_number)]
Line = Annotated[str, AfterValidator(one_line)]
Text = Annotated[str, AfterValidator(clean)]


class EvidenceRecord(Record):
    """One item of evidence, and where it can be checked."""

    number: int
    id: Line
    kind: FindingKind
    strength: Strength
    statement: Line
    source: Line
    line: int | None
    step: int | None
    signal: Line
    value: Number
    relation: Line
    threshold: Number
    quote: Text


class RootCause(Record):
    """A cause that the log speaks for."""

    rank: int
    id: str
    issue: str
    category: Category
    severity: Severity
    confidence: Probability
    confidence_level: Level
    mechanism: str
    evidence: tuple[EvidenceRecord, ...]
    fix: str


class Fix(Record):
    """Something to change, and how to see that it was right."""

    priority: int
    cause: str
    fix: str
    why: str
    expected_impact: str
    metric: str
    effort: Effort
    risk: Risk
    verification: str
    if_ineffective: str


class NextStep(Record):
    """Something to measure that tells one cause from others."""

    measure: str
    tells: str
    invariants: tuple[str, ...]


class Signals(Record):
    """What the log shows."""

    present: tuple[str, ...]
    absent: tuple[Line, ...]


class SourceRecord(Record):
    """A file that was read."""

    name: Line
    format: Line
    lines: int
    notes: tuple[Line, ...]


class Document(Record):
    """What failbench makes of the log of a training run."""

    format: Literal[1]
    status: Status
    category: Category | None
    confidence: Probability
    confidence_level: Level
    categories: dict[Category, Probability]
    summary: str
    root_causes: tuple[RootCause, ...]
    recommended_fixes: tuple[Fix, ...]
    quick_wins: tuple[str, ...]
    uncertainty_flags: tuple[Line, ...]
    next_steps: tuple[NextStep, ...]
    other_evidence: tuple[EvidenceRecord, ...]
    signals: Signals
    sources: tuple[SourceRecord, ...]
    analysis_artifacts: dict[str, Text]


def document_of(diagnosis: LogDiagnosis, artifacts: Mapping[str, str] | None = None) -> Document:
    """The answer as a document.

    Parameters
    ----------
    diagnosis
        The answer.
    artifacts
        Paths of files that were written beside it, by what they are: ``plot``, ``report``.
    """
    hypotheses, numbers = diagnosis.hypotheses, numbered(diagnosis)
    of_causes = {finding for each in hypotheses for finding in each.findings}
    remedies = [(each.cause.id, remedy) for each in hypotheses for remedy in each.advice.remedies]
    return Document(
        format=FORMAT,
        status=diagnosis.status,
        category=diagnosis.category,
        confidence=diagnosis.confidence,
        confidence_level=diagnosis.level,
        categories=diagnosis.categories,
        summary=summary(diagnosis),
        root_causes=tuple(
            RootCause(
                rank=rank,
                id=each.cause.id,
                issue=each.cause.title,
                category=each.cause.category,
                severity=each.severity,
                confidence=each.confidence,
                confidence_level=level_of(each.confidence),
                mechanism=each.advice.mechanism,
                evidence=tuple(_evidence(finding, numbers) for finding in each.findings),
                fix=each.advice.remedies[0].change,
            )
            for rank, each in enumerate(hypotheses, start=1)
        ),
        recommended_fixes=tuple(
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
        ),
        # each once, and none that may spoil the state of the training
        quick_wins=tuple(
            dict.fromkeys(one.change for _, one in remedies if one.quick and one.risk != "high")
        ),
        uncertainty_flags=diagnosis.uncertainty,
        next_steps=tuple(NextStep(**dict(measurement)) for measurement in diagnosis.measure),
        other_evidence=tuple(
            _evidence(finding, numbers) for finding in numbers if finding not in of_causes
        ),
        signals=Signals(present=diagnosis.log.present, absent=diagnosis.absent),
        sources=tuple(SourceRecord(**vars(source)) for source in diagnosis.log.sources),
        analysis_artifacts=dict(artifacts or {}),
    )


def _evidence(finding: Finding, numbers: Mapping[Finding, int]) -> EvidenceRecord:
    """A finding as it is published: without the causes that it speaks for."""
    told = {name: value for name, value in vars(finding).items() if name != "causes"}
    return EvidenceRecord(number=numbers[finding], **told)


def json_of(document: Document) -> str:
    """The document as JSON that any terminal and parser takes: ASCII, and finite numbers alone."""
    return json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False)


def schema() -> dict[str, Any]:
    """The JSON Schema of the document, with what each field is."""
    published = files("failbench.diagnose.outputs").joinpath("data/diagnosis.schema.json")
    described: dict[str, Any] = json.loads(published.read_text(encoding="utf-8"))
    return described
