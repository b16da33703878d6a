"""Checks: the interface of tests of printed claims, and their findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import Field

from failbench.base.records import Record
from failbench.publish.audit.printed_figures import Printed

Verdict = Literal["inconsistent", "cannot be checked", "consistent"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class AuditSettings(Record):
    """How claims are tested; the section ``paper_audit`` of params.yaml."""

    confidence: float = Field(gt=0.5, lt=1)
    alpha: float = Field(gt=0, lt=0.5)
    draws: int = Field(ge=1000)
    seed: int = Field(ge=0)


@dataclass(frozen=True)
class Finding:
    """The result of a test."""

    verdict: Verdict
    computed: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    printed_low: float | None = None
    printed_high: float | None = None
    n: int | None = None
    implied_n: int | None = None


class Check(Record, ABC):
    """A test of a claim: its fields are printed figures, its kind is a ``Literal`` field."""

    @abstractmethod
    def finding(self, settings: AuditSettings) -> Finding:
        """Test the claim."""


class ArithmeticCheck(Check):
    """A test by arithmetic alone, without a significance level or random draws."""

    def finding(self, settings: AuditSettings) -> Finding:  # noqa: ARG002 - interface
        """Test the claim."""
        return self.compare()

    @abstractmethod
    def compare(self) -> Finding:
        """Test the claim."""


def verdict(fits: bool) -> Verdict:
    """The verdict of a test that could be carried out."""
    return "consistent" if fits else "inconsistent"


def range_finding(printed: Printed, low: float, high: float, computed: str = "") -> Finding:
    """The finding for a printed figure that should lie in a computed range."""
    return Finding(
        verdict(printed.agrees(low, high)),
        computed or printed.text((low + high) / 2),
        value=printed.value,
        low=low,
        high=high,
    )
