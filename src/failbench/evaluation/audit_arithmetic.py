"""Arithmetic between printed figures: sums, differences, means, formulas, orders and sets.

A claim fits when some numbers that would be printed as the given figures yield one that would be
printed as the claimed figure: rounding alone is never held against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from failbench.evaluation.audit_check import Comparison, Finding, of_range, verdict
from failbench.evaluation.printed import TOLERANCE, Figure, Printed, over_rounding, shown

Numbers = Sequence[float]


class Sum(Comparison):
    """A total and its parts."""

    kind: Literal["sum"]
    value: Figure
    parts: tuple[Figure, ...] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether the parts add up to the total."""
        return of_range(self.value, *over_rounding(sum, self.parts))


class Difference(Comparison):
    """The difference of two figures."""

    kind: Literal["difference"]
    value: Figure
    minuend: Figure
    subtrahend: Figure

    def compare(self) -> Finding:
        """Whether it is that of the two."""
        figures = (self.minuend, self.subtrahend)
        return of_range(self.value, *over_rounding(lambda pair: pair[0] - pair[1], figures))


class Ratio(Comparison):
    """A share or a ratio, and what is divided."""

    kind: Literal["ratio"]
    value: Figure
    numerator: Figure
    denominator: Figure

    def compare(self) -> Finding:
        """Whether it is the quotient."""
        figures = (self.numerator, self.denominator)
        return of_range(self.value, *over_rounding(lambda pair: pair[0] / pair[1], figures))


class RelativeGain(Comparison):
    """How much higher one figure is than another, as a share of the other."""

    kind: Literal["relative_gain"]
    value: Figure
    higher: Figure
    lower: Figure

    def compare(self) -> Finding:
        """Whether the share is that of the two."""
        figures = (self.higher, self.lower)
        return of_range(self.value, *over_rounding(lambda pair: pair[0] / pair[1] - 1, figures))


class _Weighted(Comparison):
    """A figure of a mixture: as many weights as values."""

    value: Figure
    weights: tuple[Figure, ...]
    values: tuple[Figure, ...]

    @model_validator(mode="after")
    def _has_a_weight_a_value(self) -> Self:
        if len(self.weights) != len(self.values):
            raise ValueError("there must be as many weights as values")
        return self


class WeightedMean(_Weighted):
    """The mean of a mixture."""

    kind: Literal["weighted_mean"]

    def compare(self) -> Finding:
        """Whether shares and values give it."""
        figures = (*self.weights, *self.values)
        mean = _mean_of([one.value for one in figures])
        return of_range(self.value, *over_rounding(_mean_of, figures), self.value.text(mean))


class MixtureDeviation(_Weighted):
    """The standard deviation between the members of a mixture."""

    kind: Literal["mixture_deviation"]

    def compare(self) -> Finding:
        """Whether shares and values, which are taken as exact, give it."""
        weights = np.array([one.value for one in self.weights])
        values = np.array([one.value for one in self.values])
        mean = np.average(values, weights=weights)
        deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
        return of_range(self.value, deviation, deviation)


class MissingMember(_Weighted):
    """A value of a mixture whose mean and other values are printed; the last weight is its own."""

    kind: Literal["missing_member"]
    mean: Figure

    @model_validator(mode="after")
    def _has_a_weight_a_value(self) -> Self:
        if len(self.weights) != len(self.values) + 1:
            raise ValueError("there must be one weight more than values")
        return self

    def compare(self) -> Finding:
        """Whether the mean asks for it."""

        def member(numbers: Numbers) -> float:
            mean, last = numbers[0], numbers[1]
            return (mean - _mean_of(numbers[2:])) / last

        known = (*self.weights[:-1], *self.values)
        low, high = over_rounding(member, (self.mean, self.weights[-1], *known))
        middle = member([self.mean.value, self.weights[-1].value, *(one.value for one in known)])
        return of_range(self.value, low, high, self.value.text(middle))


class Exponential(Comparison):
    """A perplexity and the loss in nats of which it is the exponential."""

    kind: Literal["exponential"]
    value: Figure
    exponent: Figure

    def compare(self) -> Finding:
        """Whether it is the exponential."""
        low, high = over_rounding(lambda one: math.exp(one[0]), (self.exponent,))
        computed = f"{shown(math.exp(self.exponent.value))}; {shown(self.value.value)} is exp of "
        return of_range(self.value, low, high, computed + shown(math.log(self.value.value)))


class Span(Comparison):
    """The distance from the lowest to the highest of several figures."""

    kind: Literal["span"]
    value: Figure
    values: tuple[Figure, ...] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether it is that distance."""
        highest, lowest = (choose(one.value for one in self.values) for choose in (max, min))
        least = max(one.low for one in self.values) - min(one.high for one in self.values)
        most = max(one.high for one in self.values) - min(one.low for one in self.values)
        return of_range(self.value, max(least, 0.0), most, self.value.text(highest - lowest))


class Deviation(Comparison):
    """The standard deviation of several figures."""

    kind: Literal["deviation"]
    value: Figure
    values: tuple[Figure, ...] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether it is that of the figures, taken as exact, by n or by n - 1."""
        values = [one.value for one in self.values]
        low, high = float(np.std(values)), float(np.std(values, ddof=1))
        text = self.value.text
        return of_range(self.value, low, high, f"{text(low)} (by n) or {text(high)} (by n - 1)")


class Same(Comparison):
    """One quantity that is printed several times, each time as one figure or as several."""

    kind: Literal["same"]
    values: tuple[tuple[Figure, ...], ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _is_of_one_length(self) -> Self:
        if len({len(one) for one in self.values}) > 1:
            raise ValueError("each quotation must have as many figures as the others")
        return self

    def compare(self) -> Finding:
        """Whether each pair of quotations agrees over its rounding."""
        agree = all(
            one.overlaps(other)
            for left, right in combinations(self.values, 2)
            for one, other in zip(left, right, strict=True)
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
        total = sum(one.value for one in self.parts)
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
        own = self.values[self.name]
        others = {name: one for name, one in self.values.items() if name != self.name}
        rivals = [name for name, one in others.items() if one.low >= own.high - TOLERANCE]
        listed = ", ".join(f"{name} {one}" for name, one in self.values.items())
        return Finding(verdict(not rivals), listed)


class Within(Comparison):
    """Figures that are said to lie in a range."""

    kind: Literal["within"]
    values: tuple[Figure, ...] = Field(min_length=1)
    range: tuple[Figure, Figure]

    def compare(self) -> Finding:
        """Whether each does, over the rounding of all."""
        first, last = self.range
        outside = [one for one in self.values if not one.agrees(first.low, last.high)]
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


class Orders(Comparison):
    """How many orders of magnitude one figure is above another."""

    kind: Literal["orders"]
    value: int = Field(ge=1)
    higher: Figure
    lower: Figure

    def compare(self) -> Finding:
        """Whether the decimal logarithm of their ratio rounds to it."""
        orders = math.log10(self.higher.value / self.lower.value)
        return of_range(Printed(self.value, 0.5), orders, orders, f"{orders:.1f} orders")


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


class Variance(Comparison):
    """A variance beside the mean and the range of the same numbers."""

    kind: Literal["variance"]
    value: Figure
    mean: Figure
    lowest: Figure
    highest: Figure

    def compare(self) -> Finding:
        """Whether it is at most (highest - mean)(mean - lowest).

        The bound of Bhatia and Davis (2000, "A better bound on the variance", The American
        Mathematical Monthly 107), which holds for any numbers.
        """
        mean, lowest, highest = self.mean.value, self.lowest.value, self.highest.value
        most = (highest - mean) * (mean - lowest)
        return of_range(self.value, 0.0, most, f"at most {shown(most)}")


class SigmaThreshold(Comparison):
    """A threshold of mean plus some standard deviations, and the range of what it is taken from."""

    kind: Literal["sigma_threshold"]
    value: Figure
    lowest: Figure
    highest: Figure
    sigmas: float = Field(gt=0)

    def compare(self) -> Finding:
        """Whether numbers of that range can have it, by the bound of Bhatia and Davis (2000).

        With all numbers at the two ends, the share p at the upper one, mean plus s standard
        deviations is the lowest + range (p + s sqrt(p (1 - p))), which is largest at
        p = (1 + 1 / sqrt(1 + s^2)) / 2.
        """
        lowest, highest = self.lowest.value, self.highest.value
        most = lowest + (highest - lowest) * (1 + math.sqrt(1 + self.sigmas**2)) / 2
        return of_range(self.value, lowest, most, f"at most {shown(most)}")


class Unverifiable(Comparison):
    """A figure with which nothing else in the paper can be compared."""

    kind: Literal["unverifiable"]
    missing: str = Field(min_length=5)

    def compare(self) -> Finding:
        """That it cannot be checked, and what it would take."""
        return Finding("cannot be checked", f"not given: {self.missing}")


def _mean_of(numbers: Numbers) -> float:
    """Sum of products of the first half of the numbers, the weights, with the second half."""
    half = len(numbers) // 2
    return float(np.dot(numbers[:half], numbers[half:]))
