"""Counts behind percentages: the numerators, folds and confusion matrices that give a figure."""

# The granularity test is that of Brown and Heathers (2017, "The GRIM test"): a rate of n scenarios
# is a whole number of n-ths. Folds' tests enumerate every outcome of the stated sizes.

import math
from functools import cache
from itertools import combinations_with_replacement
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from failbench.base.arrays import Array
from failbench.publish.audit.figures import (
    TOLERANCE,
    ArithmeticCheck,
    Figure,
    Finding,
    Printed,
    range_finding,
    verdict,
)

LARGEST_DENOMINATOR = 1000  # largest denominator that is tried


def numerators(figure: Printed, n: int) -> range:
    """Whole numbers k for which k of n is printed as this figure; empty if there is none."""
    first = math.ceil(figure.low * n - TOLERANCE)
    last = math.floor(figure.high * n + TOLERANCE)
    return range(max(first, 0), min(last, n) + 1)


def smallest_denominator(figures: tuple[Printed, ...]) -> int | None:
    """The smallest n, if any, for which all figures are whole numbers of n-ths."""
    denominators = range(1, LARGEST_DENOMINATOR + 1)
    return next((n for n in denominators if all(numerators(each, n) for each in figures)), None)


def passing_by_chance(figure: Printed, n: int) -> float:
    """The share of figures from 0 to 1 with as many digits that are a whole number of n-ths."""
    unit = 2 * figure.half_unit
    if unit < TOLERANCE:
        return 1.0
    # a k at the middle between two figures may be rounded to either
    ends = np.arange(n + 1) / n / unit
    rounded = {*np.floor(ends + 0.5 + TOLERANCE), *np.ceil(ends - 0.5 - TOLERANCE)}
    return min(len(rounded) / (round(1 / unit) + 1), 1.0)


@cache
def fold_accuracies(folds: tuple[int, ...]) -> Array:
    """Outcomes of cross-validation, without the order of equal folds: ``[n_outcomes, n_folds]``."""
    outcomes = np.zeros((1, 0))
    for size in sorted(set(folds)):
        rates = np.arange(size + 1) / size
        block = np.array(list(combinations_with_replacement(rates, folds.count(size))))
        repeated = np.repeat(outcomes, len(block), axis=0)
        outcomes = np.hstack([repeated, np.tile(block, (len(outcomes), 1))])
    return outcomes


class Granularity(ArithmeticCheck):
    """Percentages that are stated to be of the same n."""

    kind: Literal["granularity"]
    values: tuple[Figure, ...] = Field(min_length=1)
    n: int = Field(ge=1)

    def compare(self) -> Finding:
        """Whether each is a whole number of n-ths; uninformative if any figure would pass."""
        possible = [numerators(figure, self.n) for figure in self.values]
        chance = passing_by_chance(self.values[0], self.n)
        implied = smallest_denominator(self.values)
        value = self.values[0].value if len(self.values) == 1 else None
        if all(possible):
            first = ", ".join(str(counts[0]) for counts in possible)
            if chance >= 1:
                computed = f"every such figure is possible for {self.n}"
                return Finding("cannot be checked", computed, value, n=self.n)
            computed = f"{first} of {self.n}; {100 * chance:.0f} % of such figures would pass"
            return Finding("consistent", computed, value, n=self.n)
        wrong = (figure for figure in self.values if not numerators(figure, self.n))
        near = "; ".join(dict.fromkeys(_neighbours(figure, self.n) for figure in wrong))
        fits = "no n below 1000 fits" if implied is None else f"the smallest n that fits: {implied}"
        return Finding("inconsistent", f"{near}; {fits}", value, n=self.n, implied_n=implied)


class FoldAccuracy(ArithmeticCheck):
    """An accuracy under cross-validation: over all scenarios, or the mean over folds."""

    kind: Literal["fold_accuracy"]
    value: Figure
    folds: tuple[int, ...] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether any outcome of the folds gives it in either definition."""
        n = sum(self.folds)
        pooled = numerators(self.value, n)
        means = fold_accuracies(self.folds).mean(axis=1)
        nearest = float(means[np.abs(means - self.value.value).argmin()])
        sizes = ", ".join(map(str, self.folds))
        if pooled:
            return Finding("consistent", f"{pooled[0]} of {n}", self.value.value, n=n)
        if self.value.covers(nearest):
            return Finding("consistent", f"a mean over folds of {sizes}", self.value.value, n=n)
        implied = smallest_denominator((self.value,))
        computed = (
            f"{_neighbours(self.value, n)}; the nearest mean over folds of {sizes} is "
            f"{self.value.text(nearest)}; the smallest n that fits: {implied}"
        )
        return Finding("inconsistent", computed, self.value.value, n=n, implied_n=implied)


class FoldDeviation(ArithmeticCheck):
    """The standard deviation of accuracies over folds, with their mean."""

    kind: Literal["fold_deviation"]
    mean: Figure
    deviation: Figure
    folds: tuple[int, ...] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether an outcome with a mean within half a scenario of the printed one has it."""
        accuracies = fold_accuracies(self.folds)
        slack = self.mean.half_unit + 0.5 / sum(self.folds)
        near = accuracies[np.abs(accuracies.mean(axis=1) - self.mean.value) <= slack]
        low, high = float(near.std(axis=1).min()), float(near.std(axis=1, ddof=1).max())
        text = self.deviation.text
        return range_finding(self.deviation, low, high, f"from {text(low)} to {text(high)}")


class Recalls(ArithmeticCheck):
    """An accuracy, with the recall and the number of scenarios of each category."""

    kind: Literal["recalls"]
    value: Figure
    recalls: tuple[Figure, ...]
    counts: tuple[int, ...]

    @model_validator(mode="after")
    def _has_a_count_per_recall(self) -> Self:
        if len(self.recalls) != len(self.counts):
            raise ValueError("there must be as many counts as recalls")
        return self

    def compare(self) -> Finding:
        """Whether the numbers of right scenarios by recalls and by accuracy agree."""
        n = sum(self.counts)
        right = list(map(numerators, self.recalls, self.counts))
        if not all(right):
            return Finding("inconsistent", "a recall is no share of its category", n=n)
        low, high = sum(counts[0] for counts in right), sum(counts[-1] for counts in right)
        total = str(low) if low == high else f"{low} to {high}"
        computed = f"{total} of {n} = {self.value.text(low / n)}"
        return range_finding(self.value, low / n, high / n, computed)


class ConfusionRows(ArithmeticCheck):
    """A confusion matrix, with the number of scenarios of each category."""

    kind: Literal["confusion_rows"]
    rows: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]

    def compare(self) -> Finding:
        """Whether its rows sum to these numbers."""
        sums = tuple(sum(row) for row in self.rows)
        return Finding(verdict(sums == self.counts), f"rows sum to {', '.join(map(str, sums))}")


class ConfusionShare(ArithmeticCheck):
    """A rate, with a confusion matrix whose last column and row are ``unknown``."""

    # ``abstained`` is the last column; ``right_of_committed`` the other diagonal among other
    # columns.

    kind: Literal["confusion_share"]
    value: Figure
    rows: tuple[tuple[int, ...], ...]
    share: Literal["right", "abstained", "right_of_committed"]

    def compare(self) -> Finding:
        """Whether the entries give the rate."""
        matrix = np.array(self.rows)
        n, last = int(matrix.sum()), int(matrix[:, -1].sum())
        part, whole = {
            "right": (int(np.trace(matrix)), n),
            "abstained": (last, n),
            "right_of_committed": (int(np.trace(matrix[:-1])), n - last),
        }[self.share]
        rate = part / whole
        return range_finding(self.value, rate, rate, f"{part} of {whole} = {self.value.text(rate)}")


def _neighbours(figure: Printed, n: int) -> str:
    below = math.floor(figure.value * n)
    lower, upper = (figure.text(count / n) for count in (below, below + 1))
    return f"{below} and {below + 1} of {n} are {lower} and {upper}"


CountCheck = Granularity | FoldAccuracy | FoldDeviation | Recalls | ConfusionRows | ConfusionShare
