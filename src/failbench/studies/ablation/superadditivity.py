"""Superadditivity: whether two groups of signals are worth more together than one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl
from scipy import stats

from failbench.records import Record
from failbench.statistics.corrected_t import ROUNDING, resampled_mean
from failbench.statistics.paired_bootstrap import difference_bounds
from failbench.statistics.paired_scores import PairedScores
from failbench.vocabulary import CATEGORIES

Baseline = Literal["nothing", "chance", "majority"]
Verdict = Literal["superadditive", "subadditive", "not shown"]

SUM = "sum"
"""The name of the two parts added up; no group of signals has it."""


class Interaction(Record):
    r"""What two groups of signals gain together, less what each of them gains alone.

    With v the accuracy of a method on some signals and b a baseline,

    .. math:: I = (v(AB) - b) - (v(A) - b) - (v(B) - b) = v(AB) - v(A) - v(B) + b,

    which with b = v(no signal) is the interaction of two players in a cooperative game (Grabisch
    and Roubens, 1999, "An axiomatic approach to the concept of interaction among players in
    cooperative games"). It rises with the baseline: what gives two bad answers gets to subtract the
    same baseline twice.
    """

    source: Literal["measured", "reported"]
    feature_set: str
    method: str
    baseline: Baseline
    baseline_value: float
    unaided: bool
    first: float
    second: float
    both: float
    value: float
    ci_low: float
    ci_high: float
    n: int
    p: float | None = None
    verdict: Verdict


def baselines(majority: float) -> dict[Baseline, float]:
    """Accuracies that no signal is needed for, by name; ``majority`` is the largest category's.

    >>> baselines(0.25)
    {'nothing': 0.0, 'chance': 0.2, 'majority': 0.25}
    """
    return {"nothing": 0.0, "chance": 1 / len(CATEGORIES), "majority": majority}


def interactions(
    scores: PairedScores,
    parts: tuple[str, str],
    both: str,
    resamples: int,
    confidence: float,
    seed: int,
    *,
    feature_set: str,
    method: str,
    unaided: Baseline,
) -> tuple[Interaction, ...]:
    """Measure the interaction of two groups of signals against every baseline."""
    first, second = parts
    summed = replace(
        scores,
        methods=(both, SUM),
        seeds=scores.seeds.with_columns((pl.col(first) + pl.col(second)).alias(SUM)),
    )
    (bounds,) = difference_bounds(summed, [(both, SUM)], resamples, confidence, seed)
    accuracies = [float(scores.scenario_scores(name).mean()) for name in (first, second, both)]
    surplus = accuracies[2] - accuracies[0] - accuracies[1]
    low, high = bounds or (surplus, surplus)
    largest = scores.scenarios["category"].value_counts()["count"].to_numpy().max()
    of_folds = scores.fold_scores(both) - scores.fold_scores(first) - scores.fold_scores(second)
    return tuple(
        Interaction(
            source="measured",
            feature_set=feature_set,
            method=method,
            baseline=name,
            baseline_value=baseline,
            unaided=name == unaided,
            first=accuracies[0],
            second=accuracies[1],
            both=accuracies[2],
            value=surplus + baseline,
            ci_low=low + baseline,
            ci_high=high + baseline,
            n=scores.n,
            p=resampled_mean(of_folds + baseline, scores.tested, scores.n - scores.tested).p_value,
            verdict=verdict(low + baseline, high + baseline),
        )
        for name, baseline in baselines(float(largest / scores.n)).items()
    )


def reported_interactions(
    first: float,
    second: float,
    both: float,
    n: int,
    majority: float,
    confidence: float,
    method: str,
    unaided: Baseline,
) -> tuple[Interaction, ...]:
    """The same of accuracies that someone else reports, without the answers behind them.

    Which scenarios the three accuracies share is not known, so the normal interval takes their
    answers for independent: the variance is the sum of three binomial ones. Answers that agree make
    it narrower or wider, which a reader of the report cannot tell.
    """
    rates = np.array([first, second, both])
    deviation = float(np.sqrt((rates * (1 - rates) / n).sum()))
    reach = float(stats.norm.ppf((1 + confidence) / 2)) * deviation
    surplus = both - first - second
    return tuple(
        Interaction(
            source="reported",
            feature_set="",
            method=method,
            baseline=name,
            baseline_value=baseline,
            unaided=name == unaided,
            first=first,
            second=second,
            both=both,
            value=surplus + baseline,
            ci_low=surplus + baseline - reach,
            ci_high=surplus + baseline + reach,
            n=n,
            verdict=verdict(surplus + baseline - reach, surplus + baseline + reach),
        )
        for name, baseline in baselines(majority).items()
    )


def verdict(low: float, high: float) -> Verdict:
    """What an interval of the interaction shows.

    >>> verdict(0.01, 0.2), verdict(-0.2, -0.01), verdict(-0.1, 0.1)
    ('superadditive', 'subadditive', 'not shown')
    """
    if low > ROUNDING:
        return "superadditive"
    return "subadditive" if high < -ROUNDING else "not shown"
