"""Intervals as the paper prints them, beside those that its own numbers of scenarios imply."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from failbench.audit.check import AuditSettings, Check, Comparison, Finding, of_range, verdict
from failbench.audit.printed_figures import TOLERANCE, Figure, Printed, over_rounding
from failbench.records import Record

Ends = tuple[float, float]


class PrintedInterval(Record):
    """What tests of one printed interval share."""

    interval: tuple[Figure, Figure]

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.interval[0].value > self.interval[1].value:
            raise ValueError("the lower end of an interval must come first")
        return self

    def near(self, ends: Ends, tolerance: float) -> bool:
        """Whether both ends lie within a distance of others."""
        return all(
            abs(printed.value - end) <= tolerance + printed.half_unit + TOLERANCE
            for printed, end in zip(self.interval, ends, strict=True)
        )


class RateInterval(PrintedInterval, Check):
    """The interval of a rate of n scenarios."""

    kind: Literal["rate_interval"]
    value: Figure
    n: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether a usual interval lies within one scenario of it at both ends.

        Usual are those of Wald, of Wilson (1927, Journal of the American Statistical Association
        22) and of Clopper and Pearson (1934, Biometrika 26), by statsmodels, and the percentiles of
        the bootstrap, which for a rate are those of the binomial distribution (Efron and
        Tibshirani, 1993, "An introduction to the bootstrap"). The n that the interval implies is
        that of a Wald interval with the longer of its two sides: the other may have been cut off
        at one.
        """
        right = round(self.value.value * self.n)
        level = settings.confidence
        usual: list[Ends] = [
            proportion_confint(right, self.n, alpha=1 - level, method=method)
            for method in ("wilson", "normal", "beta")
        ]
        tail = (1 - level) / 2
        usual.append(tuple(stats.binom.ppf([tail, 1 - tail], self.n, right / self.n) / self.n))
        fits = any(self.near(ends, 1 / self.n) for ends in usual)
        low, high = usual[0]
        implied = implied_n(self.value.value, reach(self.value, self.interval), level)
        text = self.value.text
        return Finding(
            verdict(fits),
            f"Wilson, n = {self.n}: {text(low)} to {text(high)}; the printed width implies "
            f"n = {implied}",
            value=self.value.value,
            low=float(low),
            high=float(high),
            printed_low=self.interval[0].value,
            printed_high=self.interval[1].value,
            n=self.n,
            implied_n=implied,
        )


class DeviationInterval(PrintedInterval, Check):
    """An interval beside the standard deviation over folds that it may be made of."""

    kind: Literal["deviation_interval"]
    value: Figure
    deviation: Figure
    folds: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether it reaches as far as that of a mean over folds, by the normal or by t."""

        def multiple(numbers: Sequence[float]) -> float:
            return (numbers[1] - numbers[0]) / 2 / numbers[2]

        figures = (*self.interval, self.deviation)
        low, high = over_rounding(multiple, figures)
        middle = multiple([figure.value for figure in figures])
        tail = (1 - settings.confidence) / 2
        normal = float(stats.norm.isf(tail)) / math.sqrt(self.folds)
        student = float(stats.t.isf(tail, self.folds - 1)) / math.sqrt(self.folds)
        fits = any(low - TOLERANCE <= usual <= high + TOLERANCE for usual in (normal, student))
        return Finding(
            verdict(fits),
            f"reaches {middle:.2f} sd to either side; a mean of {self.folds} folds {normal:.2f} "
            f"(normal) or {student:.2f} (t)",
        )


class GapInterval(PrintedInterval, Comparison):
    """The interval of a difference, beside those of the two figures."""

    kind: Literal["gap_interval"]
    first: tuple[Figure, Figure, Figure]
    second: tuple[Figure, Figure, Figure]

    def compare(self) -> Finding:
        """Whether any correlation of the two estimates gives it its width.

        A standard error of a difference lies between the difference and the sum of the two
        (Cauchy-Schwarz). First and second are a figure with its interval; the longer side counts.
        """
        reaches = [reach(value, (low, high)) for value, low, high in (self.first, self.second)]
        least, most = abs(reaches[0] - reaches[1]), sum(reaches)
        half = Printed(
            (self.interval[1].value - self.interval[0].value) / 2,
            # its two ends count half, and the two figures of either reach in full
            5 * self.interval[0].half_unit,
            unit="points",
        )
        text = half.text
        computed = f"± {text(half.value)}; from ± {text(least)} to ± {text(most)} is possible"
        return of_range(half, least, most, computed)


class ScoreInterval(PrintedInterval, Check):
    """The interval of an F1 score, beside the counts that the score implies."""

    kind: Literal["score_interval"]
    right: int = Field(ge=1)
    missed: int = Field(ge=0)
    false_alarms: int = Field(ge=0)
    n: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether the percentiles of the bootstrap lie within one more error of both ends."""
        counts = np.array([self.right, self.missed, self.false_alarms])
        shares = [*(counts / self.n), 1 - counts.sum() / self.n]
        rng = np.random.default_rng(settings.seed)
        right, missed, alarms = rng.multinomial(self.n, shares, settings.draws).T[:3]
        errors = missed + alarms
        drawn = right + errors > 0
        scores = 2 * right[drawn] / (2 * right[drawn] + errors[drawn])
        tail = (1 - settings.confidence) / 2
        low, high = (float(end) for end in np.quantile(scores, (tail, 1 - tail)))
        value = 2 * self.right / (2 * self.right + self.missed + self.false_alarms)
        more = 2 * self.right / (2 * self.right + self.missed + self.false_alarms + 1)
        return Finding(
            verdict(self.near((low, high), value - more)),
            f"bootstrap of these counts: {low:.2f} to {high:.2f}",
            value=value,
            low=low,
            high=high,
            printed_low=self.interval[0].value,
            printed_high=self.interval[1].value,
            n=self.n,
        )


class Disjoint(Comparison):
    """Intervals by name of which none is said to overlap another."""

    kind: Literal["disjoint"]
    intervals: dict[str, tuple[Figure, Figure]] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether all lie apart."""
        pairs = combinations(self.intervals.items(), 2)
        overlapping = [
            f"{left} and {right}"
            for (left, interval), (right, other) in pairs
            if min(interval[1].value, other[1].value) > max(interval[0].value, other[0].value)
        ]
        if not overlapping:
            return Finding("consistent", "none overlaps")
        return Finding("inconsistent", f"overlapping: {', '.join(overlapping)}")


def reach(value: Printed, interval: tuple[Printed, Printed]) -> float:
    """The longer side of an interval."""
    return max(value.value - interval[0].value, interval[1].value - value.value)


def implied_n(rate: float, half_width: float, confidence: float) -> int | None:
    """Of how many independent trials a rate has a Wald interval that reaches this far."""
    if half_width <= 0:
        return None
    quantile = float(stats.norm.isf((1 - confidence) / 2))
    return round(rate * (1 - rate) * (quantile / half_width) ** 2)
