"""Relations (equality, bounds, order, ranges, membership), and scores and tests recomputed."""

import math
from itertools import combinations, pairwise
from typing import Literal, Self

from pydantic import Field, model_validator
from scipy import stats

from failbench.base.records import Record
from failbench.publish.audit.counts import numerators
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
from failbench.study.cells import written


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
        texts = (" to ".join(map(str, quotation)) for quotation in self.values)
        computed = "one quantity, within rounding" if agree else " against ".join(texts)
        return Finding(verdict(agree), computed)


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
        where = f"{', '.join(map(str, outside))} beyond" if outside else "all within"
        return Finding(verdict(not outside), f"{where} {first} to {last}")


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
        listed = f": {', '.join(missing)}" if missing else ""
        which = "not" if missing else "all"
        return Finding(verdict(not missing), f"{which} among the {len(self.of)}{listed}")


class Unverifiable(ArithmeticCheck):
    """A figure that nothing else in the paper can be compared with."""

    kind: Literal["unverifiable"]
    missing: str = Field(min_length=5)

    def compare(self) -> Finding:
        """A finding with the missing information."""
        return Finding("cannot be checked", f"not given: {self.missing}")


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
        found = f"{right} of {self.support} found with {alarms} false alarms"
        ends = min(scores.values()), max(scores.values())
        return range_finding(self.value, *ends, f"{found}: {self.value.text(score)}")


class EffectSize(ArithmeticCheck):
    """Cohen's d of the difference of two accuracies, with their deviations where printed."""

    kind: Literal["effect_size"]
    value: Figure
    means: tuple[Figure, Figure]
    deviations: tuple[Figure, Figure] | None = None

    def compare(self) -> Finding:
        """Whether d (Cohen, 1988) agrees over scenarios, or over folds with printed deviations."""
        # Over scenarios the deviation of p is sqrt(p (1 - p)). Over folds d is of pooled
        # deviations, or of paired differences, between their difference and sum; without deviations
        # it is not checked.
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
        least = low / (first + second)
        most = high / abs(first - second) if first != second else math.inf
        fits |= self.value.agrees(*pooled) or self.value.agrees(least, most)
        computed = f"{scenarios}, {sum(pooled) / 2:.1f} over folds (paired at least {least:.1f})"
        return Finding(verdict(fits), computed, self.value.value, min(pooled[0], least), most)


class PairedT(Record):
    """A paired effect size over n folds that is stated to be significant."""

    kind: Literal["paired_t"]
    effect: Figure
    n: int = Field(ge=2)

    def finding(self, settings: AuditSettings) -> Finding:
        """Whether t = d sqrt(n), as statcheck recomputes p (Nuijten and others, 2016)."""
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


class Binomial(Record):
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
        found = written(p, "said_p")
        computed = f"{right} of {self.n} against {100 * self.rate.value:.1f} %: {found}"
        fits = (p < settings.alpha) == (self.relation == "above")
        return Finding(verdict(fits), computed, n=self.n)


def cohens_d(means: tuple[Printed, Printed], deviations: list[float]) -> tuple[float, float]:
    """Smallest and largest d over the rounding of the means, by the root mean square deviation."""
    pooled = math.sqrt(sum(deviation**2 for deviation in deviations) / 2)
    low, high = over_rounding(lambda pair: abs(pair[1] - pair[0]), means)
    return low / pooled, high / pooled


RelationCheck = Same | Bound | Largest | Within | Ascending | Members | Unverifiable
StatisticCheck = FScore | EffectSize | PairedT | Ties | Binomial
