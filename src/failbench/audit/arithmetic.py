"""Arithmetic between printed figures: sums, quotients, means, deviations and formulas.

A claim fits when some numbers that would be printed as the given figures yield one that would be
printed as the claimed figure: rounding alone is never held against it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from failbench.audit.check import Comparison, Finding, of_range
from failbench.audit.printed_figures import Figure, Printed, over_rounding, shown

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


def _mean_of(numbers: Numbers) -> float:
    """Sum of products of the first half of the numbers, the weights, with the second half."""
    half = len(numbers) // 2
    return float(np.dot(numbers[:half], numbers[half:]))
