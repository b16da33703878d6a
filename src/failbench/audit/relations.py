"""Relations between printed figures: equality, bounds, order, ranges and membership."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Literal, Self

from pydantic import Field, model_validator

from failbench.audit.check import Comparison, Finding, verdict
from failbench.audit.printed_figures import TOLERANCE, Figure, over_rounding


class Same(Comparison):
    """One quantity that is printed several times, each time as one figure or as several."""

    kind: Literal["same"]
    values: tuple[tuple[Figure, ...], ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _is_of_one_length(self) -> Self:
        if len({len(quotation) for quotation in self.values}) > 1:
            raise ValueError("each quotation must have as many figures as the others")
        return self

    def compare(self) -> Finding:
        """Whether each pair of quotations agrees over its rounding."""
        agree = all(
            figure.overlaps(other)
            for left, right in combinations(self.values, 2)
            for figure, other in zip(left, right, strict=True)
        )
        texts = [" to ".join(map(str, quotation)) for quotation in self.values]
        if agree:
            return Finding(verdict(agree), "one quantity, within rounding")
        return Finding(verdict(agree), " against ".join(texts))


class Bound(Comparison):
    """A figure that is said to be above, below or at least a sum of others."""

    kind: Literal["bound"]
    value: Figure
    relation: Literal["above", "below", "at_least", "at_most"]
    parts: tuple[Figure, ...] = Field(min_length=1)

    def compare(self) -> Finding:
        """Whether it can be, over the rounding of all; equality is neither above nor below."""
        low, high = over_rounding(sum, self.parts)
        total = sum(part.value for part in self.parts)
        upwards = self.relation in {"above", "at_least"}
        room = self.value.high - low if upwards else high - self.value.low
        fits = room > (TOLERANCE if self.relation in {"above", "below"} else -TOLERANCE)
        computed = f"{self.value} against {self.value.text(total)}"
        return Finding(verdict(fits), computed, value=self.value.value, low=low, high=high)


class Largest(Comparison):
    """The one that is said to be the largest of several figures by name."""

    kind: Literal["largest"]
    name: str
    values: dict[str, Figure] = Field(min_length=2)

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.name not in self.values:
            raise ValueError("name must be that of one of the values")
        return self

    def compare(self) -> Finding:
        """Whether no other is as large."""
        most = self.values[self.name].high - TOLERANCE
        others = {name: figure for name, figure in self.values.items() if name != self.name}
        rivals = [name for name, figure in others.items() if figure.low >= most]
        listed = ", ".join(f"{name} {figure}" for name, figure in self.values.items())
        return Finding(verdict(not rivals), listed)


class Within(Comparison):
    """Figures that are said to lie in a range."""

    kind: Literal["within"]
    values: tuple[Figure, ...] = Field(min_length=1)
    range: tuple[Figure, Figure]

    def compare(self) -> Finding:
        """Whether each does, over the rounding of all."""
        first, last = self.range
        outside = [figure for figure in self.values if not figure.agrees(first.low, last.high)]
        ends = f"{first} to {last}"
        if not outside:
            return Finding("consistent", f"all within {ends}")
        listed = ", ".join(map(str, outside))
        return Finding("inconsistent", f"{listed} beyond {ends}")


class Ascending(Comparison):
    """Figures of which each is said to be above the one before."""

    kind: Literal["ascending"]
    values: tuple[Figure, ...] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether each can be, over the rounding of both."""
        rises = all(right.high - left.low > TOLERANCE for left, right in pairwise(self.values))
        return Finding(verdict(rises), f"given: {', '.join(map(str, self.values))}")


class Members(Comparison):
    """Things that are said to be among a list."""

    kind: Literal["members"]
    names: tuple[str, ...] = Field(min_length=1)
    of: tuple[str, ...] = Field(min_length=1)

    def compare(self) -> Finding:
        """Whether all are."""
        missing = [name for name in self.names if name not in self.of]
        if not missing:
            return Finding("consistent", f"all among the {len(self.of)}")
        return Finding("inconsistent", f"not among the {len(self.of)}: {', '.join(missing)}")


class Unverifiable(Comparison):
    """A figure with which nothing else in the paper can be compared."""

    kind: Literal["unverifiable"]
    missing: str = Field(min_length=5)

    def compare(self) -> Finding:
        """That it cannot be checked, and what it would take."""
        return Finding("cannot be checked", f"not given: {self.missing}")
