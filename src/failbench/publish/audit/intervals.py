"""Printed intervals compared with those implied by the paper's own numbers of scenarios."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from failbench.base.records import Record
from failbench.publish.audit.figures import (
    TOLERANCE,
    ArithmeticCheck,
    AuditSettings,
    Figure,
    Finding,
    Printed,
    over_rounding,
    range_finding,
    verdict,
)

Ends = tuple[float, float]


class PrintedInterval(Record):
    """Base of tests of one printed interval."""

    interval: tuple[Figure, Figure]

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if self.interval[0].value > self.interval[1].value:
            raise ValueError("the lower end of an interval must come first")
        return self

    def near(self, ends: Ends, tolerance: float) -> bool:
        """Whether both ends lie within a tolerance of other ends."""
        return all(
            abs(printed.value - end) <= tolerance + printed.half_unit + TOLERANCE
            for printed, end in zip(self.interval, ends, strict=True)
        )

    def beside(self, ends: Ends, fits: bool, computed: str, **more: Any) -> Finding:
        """The finding that sets a computed interval beside the printed one."""
        low, high = (float(end) for end in ends)
        first, last = (end.value for end in self.interval)
        more |= {"low": low, "high": high, "printed_low": first, "printed_high": last}
        return Finding(verdict(fits), computed, **more)


class RateInterval(PrintedInterval):
    """The interval of a rate of n scenarios."""

    kind: Literal["rate_interval"]
    value: Figure
    n: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether a standard interval lies within one scenario of it at both ends."""
        # Wald's, Wilson's (1927), Clopper and Pearson's (1934), and percentiles of the bootstrap,
        # which for a rate are binomial (Efron and Tibshirani, 1993). The implied n is of a Wald
        # interval with the longer side: the other may have been clipped at one.
        right = round(self.value.value * self.n)
        level = settings.confidence
        standard: list[Ends] = [
            proportion_confint(right, self.n, alpha=1 - level, method=method)
            for method in ("wilson", "normal", "beta")
        ]
        tail = (1 - level) / 2
        standard.append(tuple(stats.binom.ppf([tail, 1 - tail], self.n, right / self.n) / self.n))
        fits = any(self.near(ends, 1 / self.n) for ends in standard)
        low, high = standard[0]
        implied = implied_n(self.value.value, reach(self.value, self.interval), level)
        text = self.value.text
        computed = (
            f"Wilson, n = {self.n}: {text(low)} to {text(high)}; the printed width implies "
            f"n = {implied}"
        )
        more = {"value": self.value.value, "n": self.n, "implied_n": implied}
        return self.beside((low, high), fits, computed, **more)


class DeviationInterval(PrintedInterval):
    """An interval, with the standard deviation over folds from which it may be computed."""

    kind: Literal["deviation_interval"]
    value: Figure
    deviation: Figure
    folds: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether its width is that of a mean over folds, by the normal or the t distribution."""

        def multiple(numbers: Sequence[float]) -> float:
            return (numbers[1] - numbers[0]) / 2 / numbers[2]

        figures = (*self.interval, self.deviation)
        low, high = over_rounding(multiple, figures)
        middle = multiple([figure.value for figure in figures])
        tail = (1 - settings.confidence) / 2
        normal = float(stats.norm.isf(tail)) / math.sqrt(self.folds)
        student = float(stats.t.isf(tail, self.folds - 1)) / math.sqrt(self.folds)
        fits = any(low - TOLERANCE <= width <= high + TOLERANCE for width in (normal, student))
        computed = (
            f"reaches {middle:.2f} sd to either side; a mean of {self.folds} folds {normal:.2f} "
            f"(normal) or {student:.2f} (t)"
        )
        return Finding(verdict(fits), computed)


class GapInterval(PrintedInterval, ArithmeticCheck):
    """The interval of a difference, with those of the two figures."""

    kind: Literal["gap_interval"]
    first: tuple[Figure, Figure, Figure]
    second: tuple[Figure, Figure, Figure]

    def compare(self) -> Finding:
        """Whether some correlation of the two estimates implies its width."""
        # A difference's error lies between the errors' difference and sum (Cauchy-Schwarz), of
        # which the longer sides are used.
        reaches = [reach(value, (low, high)) for value, low, high in (self.first, self.second)]
        least, most = abs(reaches[0] - reaches[1]), sum(reaches)
        half = Printed(
            (self.interval[1].value - self.interval[0].value) / 2,
            # the two ends contribute half, and the two figures of each reach in full
            5 * self.interval[0].half_unit,
            unit="points",
        )
        text = half.text
        computed = f"± {text(half.value)}; from ± {text(least)} to ± {text(most)} is possible"
        return range_finding(half, least, most, computed)


class ScoreInterval(PrintedInterval):
    """The interval of an F1 score, with the counts that the score implies."""

    kind: Literal["score_interval"]
    right: int = Field(ge=1)
    missed: int = Field(ge=0)
    false_alarms: int = Field(ge=0)
    n: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether the bootstrap percentiles lie within one further error of both ends."""
        counts = np.array([self.right, self.missed, self.false_alarms])
        shares = [*(counts / self.n), 1 - counts.sum() / self.n]
        rng = np.random.default_rng(settings.seed)
        right, missed, alarms = rng.multinomial(self.n, shares, settings.draws).T[:3]
        errors = missed + alarms
        drawn = right + errors > 0
        scores = 2 * right[drawn] / (2 * right[drawn] + errors[drawn])
        tail = (1 - settings.confidence) / 2
        low, high = (float(end) for end in np.quantile(scores, (tail, 1 - tail)))
        whole = 2 * self.right + self.missed + self.false_alarms
        value, with_one_more_error = 2 * self.right / whole, 2 * self.right / (whole + 1)
        fits = self.near((low, high), value - with_one_more_error)
        computed = f"bootstrap of these counts: {low:.2f} to {high:.2f}"
        return self.beside((low, high), fits, computed, value=value, n=self.n)


class Disjoint(ArithmeticCheck):
    """Intervals by name that are stated not to overlap."""

    kind: Literal["disjoint"]
    intervals: dict[str, tuple[Figure, Figure]] = Field(min_length=2)

    def compare(self) -> Finding:
        """Whether all are disjoint."""
        pairs = combinations(self.intervals.items(), 2)
        overlapping = [
            f"{first} and {second}"
            for (first, interval), (second, other) in pairs
            if min(interval[1].value, other[1].value) > max(interval[0].value, other[0].value)
        ]
        computed = f"overlapping: {', '.join(overlapping)}" if overlapping else "none overlaps"
        return Finding(verdict(not overlapping), computed)


def reach(value: Printed, interval: tuple[Printed, Printed]) -> float:
    """The longer side of an interval."""
    return max(value.value - interval[0].value, interval[1].value - value.value)


def implied_n(rate: float, half_width: float, confidence: float) -> int | None:
    """Number of independent trials for which a rate has a Wald interval of this half width."""
    if half_width <= 0:
        return None
    quantile = float(stats.norm.isf((1 - confidence) / 2))
    return round(rate * (1 - rate) * (quantile / half_width) ** 2)


IntervalCheck = RateInterval | DeviationInterval | GapInterval | ScoreInterval | Disjoint
