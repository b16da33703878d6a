"""Scores, effect sizes and significance, recomputed from the figures printed beside them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal

from pydantic import Field
from scipy import stats

from failbench.publish.audit.counts import numerators
from failbench.publish.audit.figures import (
    ArithmeticCheck,
    AuditSettings,
    Check,
    Figure,
    Finding,
    Printed,
    over_rounding,
    range_finding,
    verdict,
)


class FScore(ArithmeticCheck):
    """An F1 score with precision and recall of a category with a known number of scenarios."""

    kind: Literal["f_score"]
    value: Figure
    precision: Figure
    recall: Figure
    support: int = Field(ge=1)

    def compare(self) -> Finding:
        """Whether counts that give precision and recall give the score."""
        scores = {
            (right, alarms): 2 * right / (right + alarms + self.support)
            for right in numerators(self.recall, self.support)
            for alarms in range(self.support + 1)
            if right > 0 and self.precision.covers(right / (right + alarms))
        }
        if not scores:
            return Finding("inconsistent", "no counts give this precision and recall")
        (right, alarms), score = next(iter(scores.items()))
        computed = (
            f"{right} of {self.support} found with {alarms} false alarms: {self.value.text(score)}"
        )
        return range_finding(self.value, min(scores.values()), max(scores.values()), computed)


class EffectSize(ArithmeticCheck):
    """Cohen's d of the difference of two accuracies, with their deviations where printed."""

    kind: Literal["effect_size"]
    value: Figure
    means: tuple[Figure, Figure]
    deviations: tuple[Figure, Figure] | None = None

    def compare(self) -> Finding:
        """Whether d (Cohen, 1988) agrees over scenarios, or over folds with the printed deviations.

        Over scenarios the deviation of an accuracy p is sqrt(p (1 - p)). Over folds d is of the
        pooled deviations, or of paired differences, whose deviation lies between the difference
        and the sum of the two. Without deviations the value over folds cannot be checked.
        """
        rates = [mean.value for mean in self.means]
        of_scenarios = cohens_d(self.means, [math.sqrt(p * (1 - p)) for p in rates])
        fits = self.value.agrees(*of_scenarios)
        scenarios = f"d = {sum(of_scenarios) / 2:.2f} over scenarios"
        if self.deviations is None:
            implied = 100 * abs(rates[1] - rates[0]) / self.value.value
            computed = f"{scenarios}; over folds it needs an sd of {implied:.1f} points, not given"
            return Finding("consistent" if fits else "cannot be checked", computed)
        low, high = over_rounding(lambda pair: abs(pair[1] - pair[0]), self.means)
        first, second = (deviation.value for deviation in self.deviations)
        pooled = cohens_d(self.means, [first, second])
        paired = (
            low / (first + second),
            high / abs(first - second) if first != second else math.inf,
        )
        fits |= self.value.agrees(*pooled) or self.value.agrees(*paired)
        computed = (
            f"{scenarios}, {sum(pooled) / 2:.1f} over folds (paired at least {paired[0]:.1f})"
        )
        return Finding(
            verdict(fits), computed, self.value.value, min(pooled[0], paired[0]), paired[1]
        )


class PairedT(Check):
    """A paired effect size over n folds that is stated to be significant."""

    kind: Literal["paired_t"]
    effect: Figure
    n: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether t = d sqrt(n) is, as statcheck recomputes p from what is printed.

        Nuijten and others (2016), "The prevalence of statistical reporting errors in psychology",
        Behavior Research Methods 48.
        """
        low, high = (
            2 * float(stats.t.sf(effect * math.sqrt(self.n), self.n - 1))
            for effect in (self.effect.high, self.effect.low)
        )
        statistic = self.effect.value * math.sqrt(self.n)
        computed = f"t({self.n - 1}) = {statistic:.2f}, p = {(low + high) / 2:.3f}"
        return Finding(verdict(low < settings.alpha), computed, n=self.n)


class Ties(ArithmeticCheck):
    """Accuracies by name, every pair of which is stated to differ significantly."""

    kind: Literal["ties"]
    values: dict[str, Figure] = Field(min_length=2)
    n: int = Field(ge=2)

    def compare(self) -> Finding:
        """Whether every pair differs by at least one scenario, as significance requires."""
        tied = [
            f"{first} and {second}"
            for (first, figure), (second, other) in combinations(self.values.items(), 2)
            if figure.overlaps(other)
        ]
        computed = f"equal as printed: {', '.join(tied)}" if tied else "no two are equal"
        return Finding(verdict(not tied), computed, n=self.n)


class Binomial(Check):
    """A rate of n scenarios that is stated to be above another, or equal to it."""

    kind: Literal["binomial"]
    value: Figure
    n: int = Field(ge=2)
    relation: Literal["above", "equal"]
    rate: Figure

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether the exact binomial test shows it to be above, or does not show a difference."""
        right = round(self.value.value * self.n)
        side = "greater" if self.relation == "above" else "two-sided"
        p = float(stats.binomtest(right, self.n, self.rate.value, side).pvalue)
        differs = p < settings.alpha
        p_text = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        return Finding(
            verdict(differs if self.relation == "above" else not differs),
            f"{right} of {self.n} against {100 * self.rate.value:.1f} %: {p_text}",
            n=self.n,
        )


def cohens_d(means: tuple[Printed, Printed], deviations: list[float]) -> tuple[float, float]:
    """Smallest and largest d over the rounding of the means, by the root mean square deviation."""
    pooled = math.sqrt(sum(deviation**2 for deviation in deviations) / 2)
    low, high = over_rounding(lambda pair: abs(pair[1] - pair[0]), means)
    return low / pooled, high / pooled
