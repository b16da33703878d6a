"""Findings: what a preflight says of a training step before it is taken.

``data/findings.json`` has the wording, severity and root cause of each kind; a check gives the
numbers and names that stand in it.
"""

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

Severity = Literal["crash", "failure", "warning", "note"]
"""What happens: an exception; a training that cannot work; something that may be meant; nothing."""

SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
"""The worst first."""


class Wording(Record):
    """How a kind of finding is put, with places for numbers and names in braces.

    Attributes
    ----------
    severity
        What will happen.
    cause
        The root cause in :mod:`failbench.causes`; None where it depends on what was raised.
    what
        What will happen, in words.
    why
        The reason.
    change
        What to change.
    """

    severity: Severity
    cause: str | None
    what: str = Field(min_length=10)
    why: str
    change: str


@dataclass(frozen=True)
class Finding:
    """Something that a preflight says.

    Attributes
    ----------
    id
        Its kind.
    severity
        What will happen.
    what, why, change
        What happens, the reason, and what to change.
    where
        The module's name, the parameter's, or the key of the batch; empty for the step as a whole.
    cause
        The root cause in :mod:`failbench.causes`, where one fits.
    error
        The text of the exception, where one is foreseen.
    """

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
    """What a preflight says.

    Attributes
    ----------
    findings
        The worst first, and of one severity in the order in which a step would meet them.
    memory
        What the step needs; None where the step could not be followed at all.
    capacity_bytes
        The memory that it is held against; None where that is not known.
    seconds
        What the preflight took.
    """

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
    """A finding of a kind, with the numbers and names of this case.

    Parameters
    ----------
    kind
        Its name in ``data/findings.json``.
    where
        The module, parameter or key.
    cause
        In place of the kind's own.
    error
        The text of the exception; ``error`` in the wording.
    values
        For the other places of the wording.

    Raises
    ------
    KeyError
        If there is no such kind, or its wording names a value that is not given.
    """
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
