"""Checks: what one test of a printed claim takes, and what it finds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import Field

from failbench.audit.printed_figures import Printed
from failbench.records import Record

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
    """What a test found.

    Attributes
    ----------
    verdict
        Whether the claim fits what was computed.
    computed
        What was computed, in words.
    value, low, high
        The printed figure, and the range of figures that would fit; None for tests of another kind.
    printed_low, printed_high
        Ends of the interval that is printed, of tests of intervals.
    n, implied_n
        What an interval or a percentage is said to be of, and what its digits or width imply.
    """

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
    """A test of a claim: its fields are what the paper prints, its kind is a ``Literal`` field."""

    @abstractmethod
    def finding(self, settings: AuditSettings) -> Finding:
        """Test the claim."""


class Comparison(Check):
    """A test that its figures settle alone: at no level, and without draws."""

    def finding(self, settings: AuditSettings) -> Finding:  # noqa: ARG002 - as every check is called
        """Test the claim."""
        return self.compare()

    @abstractmethod
    def compare(self) -> Finding:
        """Test the claim."""


def verdict(fits: bool) -> Verdict:
    """The verdict of a test that could be made."""
    return "consistent" if fits else "inconsistent"


def of_range(printed: Printed, low: float, high: float, computed: str = "") -> Finding:
    """The finding that a printed figure should lie between two that were computed.

    Parameters
    ----------
    printed
        What the paper says.
    low, high
        What follows from other figures, over their rounding.
    computed
        What was computed, in words; the middle of the range where there are none.
    """
    return Finding(
        verdict(printed.agrees(low, high)),
        computed or printed.text((low + high) / 2),
        value=printed.value,
        low=low,
        high=high,
    )
