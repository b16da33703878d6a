"""Relations between printed figures: equality, bounds, order, ranges and membership."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Literal, Self

from pydantic import Field, model_validator

from failbench.publish.audit.figures import (
    TOLERANCE,
    ArithmeticCheck,
    Figure,
    Finding,
    over_rounding,
    verdict,
)


class Same(ArithmeticCheck):
    """One quantity that is printed several times, each time as one or several figures."""

    kind: Literal["same"]
    values: tuple[tuple[Figure, ...], ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _has_equal_lengths(self) -> Self:
        if len({len(quotation) for quotation in self.values}) > 1:
            raise ValueError("each quotation must have as many figures as the others")
        return self

    def compare(self) -> Finding:
        """Whether each pair of quotations agrees within rounding."""
        agree = all(
            figure.overlaps(other)
            for first, second in combinations(self.values, 2)
            for figure, other in zip(first, second, strict=True)
        )
        texts = [" to ".join(map(str, quotation)) for quotation in self.values]
        if agree:
            return Finding(verdict(agree), "one quantity, within rounding")
        return Finding(verdict(agree), " against ".join(texts))


class Bound(ArithmeticCheck):
    """A figure that is stated to be above, below, at least or at most a sum of others."""

    kind: Literal["bound"]
    value: Figure
    relation: Literal["above", "below", "at_least", "at_most"]
    parts: tuple[Figure, ...] = Field(min_length=1)

    def compare(self) -> Finding:
        """Whether this is possible within rounding; equality is neither above nor below."""
        low, high = over_rounding(sum, self.parts)
        total = sum(part.value for part in self.parts)
        upwards = self.relation in {"above", "at_least"}
        margin = self.value.high - low if upwards else high - self.value.low
        fits = margin > (TOLERANCE if self.relation in {"above", "below"} else -TOLERANCE)
        computed = f"{self.value} against {self.value.text(total)}"
        return Finding(verdict(fits), computed, value=self.value.value, low=low, high=high)


class Largest(ArithmeticCheck):
    """The name of the figure that is stated to be the largest of several."""

    kind: Literal["largest"]
    name: str
    values: dict[str, Figure] = Field(min_length=2)

    @model_validator(mode="after")
    def _names_a_value(self) -> Self:
        if self.name not in self.values:
            raise ValueError("name must be that of one of the values")
        return self

    def compare(self) -> Finding:
        """Whether no other figure is as large."""
        most = self.values[self.name].high - TOLERANCE
        others = {name: figure for name, figure in self.values.items() if name != self.name}
        rivals = [name for name, figure in others.items() if figure.low >= most]
        listed = ", ".join(f"{name} {figure}" for name, figure in self.values.items())
        return Finding(verdict(not rivals), listed)


class Within(ArithmeticCheck):
    """Figures that are stated to lie in a range."""

    kind: Literal["within"]
    values: tuple[Figure, ...] = Field(min_length=1)
    range: tuple[Figure, Figure]

    def compare(self) -> Finding:
        """Whether each does, within rounding."""
        first, last = self.range
        outside = [figure for figure in self.values if not figure.agrees(first.low, last.high)]
        ends = f"{first} to {last}"
        if not outside:
            return Finding("consistent", f"all within {ends}")
        listed = ", ".join(map(str, outside))
        return Finding("inconsistent", f"{listed} beyond {ends}")


class Ascending(ArithmeticCheck):
    """Figures that are stated to be strictly ascending."""

    kind: Literal["ascending"]
    values: tuple[Figure, ...] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether each can be above its predecessor, within rounding."""
        rises = all(
            later.high - earlier.low > TOLERANCE for earlier, later in pairwise(self.values)
        )
        return Finding(verdict(rises), f"given: {', '.join(map(str, self.values))}")


class Members(ArithmeticCheck):
    """Names that are stated to be in a list."""

    kind: Literal["members"]
    names: tuple[str, ...] = Field(min_length=1)
    of: tuple[str, ...] = Field(min_length=1)

    def compare(self) -> Finding:
        """Whether all are in the list."""
        missing = [name for name in self.names if name not in self.of]
        if not missing:
            return Finding("consistent", f"all among the {len(self.of)}")
        return Finding("inconsistent", f"not among the {len(self.of)}: {', '.join(missing)}")


class Unverifiable(ArithmeticCheck):
    """A figure that nothing else in the paper can be compared with."""

    kind: Literal["unverifiable"]
    missing: str = Field(min_length=5)

    def compare(self) -> Finding:
        """A finding with the missing information."""
        return Finding("cannot be checked", f"not given: {self.missing}")
