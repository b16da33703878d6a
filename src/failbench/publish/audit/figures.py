"""Printed figures, with the rounding that their digits imply, and the interface of their tests."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from failbench.base.records import Record

Unit = Literal["", "%", "points"]

TOLERANCE = 1e-9  # differences below this are floating-point rounding

FIGURE_PATTERN = re.compile(
    r"(?P<digits>[+-]?\d+(?:\.(?P<decimals>\d+))?)"
    r"(?:e(?P<exponent>[+-]?\d+))?(?:±(?P<slack>\d+(?:\.\d+)?))?(?P<unit>%| points)?"
)
FRACTION_PATTERN = re.compile(r"\d+/[1-9]\d*")


@dataclass(frozen=True)
class Printed:
    """A figure as printed."""

    value: float
    half_unit: float = 0.0
    unit: Unit = ""

    @property
    def low(self) -> float:
        """The smallest number that rounds to this figure."""
        return self.value - self.half_unit

    @property
    def high(self) -> float:
        """The largest number that rounds to this figure."""
        return self.value + self.half_unit

    def agrees(self, low: float, high: float) -> bool:
        """Whether some number between ``low`` and ``high`` rounds to this figure."""
        return self.low <= high + TOLERANCE and low <= self.high + TOLERANCE

    def overlaps(self, other: Printed) -> bool:
        """Whether both may be roundings of one number; ranges that only touch do not overlap."""
        shared = min(self.high, other.high) - max(self.low, other.low)
        rounded = self.half_unit > 0 and other.half_unit > 0
        return shared > TOLERANCE if rounded else shared >= -TOLERANCE

    def covers(self, number: float) -> bool:
        """Whether a number rounds to this figure."""
        return self.agrees(number, number)

    def text(self, number: float) -> str:
        """Another number in the unit of this one, with one more digit."""
        if not self.unit:
            return shown(number)
        decimals = 1 if self.half_unit > 0.0004 else 2
        return f"{100 * number:.{decimals}f} {self.unit}"

    def __str__(self) -> str:
        if not self.unit:
            return shown(self.value)
        decimals = max(0, round(-math.log10(200 * self.half_unit)))
        return f"{100 * self.value:.{decimals}f} {self.unit}"


def shown(number: float) -> str:
    """A number that is no share, with four significant digits."""
    return f"{number:.0f}" if 10_000 <= abs(number) < 1e6 else f"{number:.4g}"


def read_printed(raw: object) -> Printed:
    """Read a figure from its digits."""
    if isinstance(raw, Printed):
        return raw
    if isinstance(raw, int) and not isinstance(raw, bool):
        return Printed(float(raw))
    if isinstance(raw, str) and FRACTION_PATTERN.fullmatch(raw):
        return Printed(float(Fraction(raw)))
    match = FIGURE_PATTERN.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        raise ValueError(f'{raw!r} is no printed figure: write "12.5%", "0.25", 40 or "5/40"')
    unit: Unit = "%" if match["unit"] == "%" else "points" if match["unit"] else ""
    scale = 10.0 ** int(match["exponent"] or 0) / (100 if unit else 1)
    last_digit = 10.0 ** -len(match["decimals"] or "")
    half_unit = float(match["slack"]) if match["slack"] else last_digit / 2
    return Printed(float(match["digits"]) * scale, half_unit * scale, unit)


Figure = Annotated[Printed, BeforeValidator(read_printed)]  # a field with a printed figure


def over_rounding(
    function: Callable[[Sequence[float]], float], figures: Iterable[Printed]
) -> tuple[float, float]:
    """Smallest and largest value of a function of numbers that round to these figures."""
    ends = [sorted({figure.low, figure.high}) for figure in figures]
    values = [function(corner) for corner in product(*ends)]
    return min(values), max(values)


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


class ArithmeticCheck(Record, ABC):
    """A test of a claim by arithmetic alone, without a significance level or random draws."""

    def finding(self, _: AuditSettings) -> Finding:
        """Test the claim, as every kind of test does."""
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
