"""Stability: whether one accuracy is the same under several conditions, shown and not assumed.

That a test finds no difference does not show that there is none. Equivalence within a margin does,
and it needs enough scenarios to be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.corrected_t import ROUNDING, ResampledMean
from failbench.statistics.equivalence import detectable_effect, equivalence


@dataclass(frozen=True)
class PairedDifference:
    """A difference in accuracy over scenarios that both sides have."""

    value: float
    ci_low: float
    ci_high: float
    p: float
    p_equivalence: float
    equivalent: bool
    smallest_margin: float
    detectable: float
    n: int


@dataclass(frozen=True)
class Stability:
    """How alike the conditions are.

    All pairs must be equivalent: an intersection-union test, whose level is that of each of its
    tests, without adjustment (Berger and Hsu, 1996, "Bioequivalence trials, intersection-union
    tests and equivalence confidence sets", Statistical Science 11).
    """

    against_others: dict[str, PairedDifference]
    spread: float
    p_equivalence: float
    shown: bool
    smallest_margin: float
    detectable: float
    n: int


def stability(
    answers: pl.DataFrame, condition: str, margin: float, confidence: float, power: float
) -> Stability:
    """Compare an accuracy under several conditions, scenario by scenario.

    A scenario is one number per condition, the mean correctness of its runs and repeats, so that
    scenarios are independent and Student's t for paired samples holds; it is conditional on the
    fitted models. Scenarios that lack a condition are left out.
    """
    right = (pl.col("prediction") == pl.col("category")).cast(pl.Float64)
    wide = (
        answers.with_columns(right=right)
        .pivot(condition, index="scenario", values="right", aggregate_function="mean")
        .drop_nulls()
    )
    names = sorted(set(wide.columns) - {"scenario"})
    if len(names) < 2 or wide.height < 2:
        raise BadInputError(
            "predictions",
            condition,
            f"there are {len(names)} conditions with {wide.height} scenarios in common.",
            "Stability takes two of each: record another architecture, or more scenarios.",
        )
    scores = {name: wide[name].to_numpy() for name in names}

    def compared(left: Array, right: Array) -> PairedDifference:
        return _difference(left - right, margin, confidence, power)

    pairs = [compared(scores[left], scores[right]) for left, right in combinations(names, 2)]
    means = [float(scores[name].mean()) for name in names]
    return Stability(
        against_others={
            name: compared(
                scores[name], np.mean([scores[other] for other in names if other != name], axis=0)
            )
            for name in names
        },
        spread=max(means) - min(means),
        p_equivalence=max(pair.p_equivalence for pair in pairs),
        shown=all(pair.equivalent for pair in pairs),
        smallest_margin=max(pair.smallest_margin for pair in pairs),
        detectable=max(pair.detectable for pair in pairs),
        n=wide.height,
    )


def _difference(
    differences: Array, margin: float, confidence: float, power: float
) -> PairedDifference:
    n = len(differences)
    deviation = float(differences.std(ddof=1))
    mean = float(differences.mean())
    # Scenarios that agree do so to the last bit or not at all; so should their mean.
    resampled = (
        ResampledMean(float(np.round(mean, 12)), 0.0, n - 1)
        if deviation < ROUNDING
        else ResampledMean(mean, deviation / float(np.sqrt(n)), n - 1)
    )
    low, high = resampled.interval(confidence)
    equal = equivalence(resampled, margin, 1 - confidence)
    return PairedDifference(
        value=resampled.mean,
        ci_low=low,
        ci_high=high,
        p=resampled.p_value,
        p_equivalence=equal.p,
        equivalent=equal.shown,
        smallest_margin=equal.smallest_margin,
        detectable=detectable_effect(n - 1, 1 - confidence, power) * resampled.standard_error,
        n=n,
    )
