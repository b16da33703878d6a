"""Findings: what a preflight says of a training step, worded in ``data/findings.json``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from pydantic import Field, TypeAdapter

from failbench.causes.catalogue import causes
from failbench.preflight.memory import Memory
from failbench.records import Record
from failbench.vocabulary import Category

# what happens: an exception; a training that cannot work; something that may be meant; nothing
Severity = Literal["crash", "failure", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)  # the worst first


class Wording(Record):
    """How a kind of finding is put, with places for numbers and names in braces."""

    severity: Severity
    cause: str | None
    what: str = Field(min_length=10)
    why: str
    change: str


@dataclass(frozen=True)
class Finding:
    """Something that a preflight says."""

    id: str
    severity: Severity
    what: str
    why: str
    change: str
    where: str = ""
    cause: str | None = None
    error: str | None = None

    @property
    def category(self) -> Category | None:
        """The component that the cause lies in."""
        return None if self.cause is None else causes()[self.cause].category


@dataclass(frozen=True)
class Report:
    """What a preflight says."""

    findings: tuple[Finding, ...]
    memory: Memory | None = None
    capacity_bytes: int | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def crash(self) -> Finding | None:
        """The first exception that is foreseen."""
        return next((each for each in self.findings if each.severity == "crash"), None)

    @property
    def fails(self) -> bool:
        """Whether the training will crash or cannot work."""
        return any(each.severity in ("crash", "failure") for each in self.findings)


def finding(
    kind: str,
    *,
    where: str = "",
    cause: str | None = None,
    error: str | None = None,
    **values: object,
) -> Finding:
    """A finding of a kind, with the numbers and names of this case."""
    wording = wordings()[kind]
    values |= {"error": error, "where": where}
    return Finding(
        kind,
        wording.severity,
        wording.what.format(**values),
        wording.why.format(**values),
        wording.change.format(**values),
        where,
        cause or wording.cause,
        error,
    )


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings with the worst first, and otherwise in their order."""
    return tuple(sorted(findings, key=lambda each: SEVERITIES.index(each.severity)))


@cache
def wordings() -> dict[str, Wording]:
    """Every kind of finding by its name."""
    text = files("failbench.preflight").joinpath("data/findings.json").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Wording]).validate_json(text)
