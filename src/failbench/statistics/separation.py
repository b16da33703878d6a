"""Separation: how well a figure, such as how undecided a method is, tells some scenarios apart."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.statistics.bootstrap import BootstrapSettings, Interval, resample
from failbench.statistics.row_weights import Weights, once, seed_counts, unit_of


def entropy() -> pl.Expr:
    """Entropy of the probabilities of a prediction (Shannon, 1948), over that of equal odds.

    0 where one category has it all, 1 where all have the same.
    """
    terms = []
    for category in CATEGORIES:
        probability = pl.col(f"p_{category}")
        terms.append(pl.when(probability > 0).then(-probability * probability.log()).otherwise(0.0))
    return pl.sum_horizontal(terms) / math.log(len(CATEGORIES))


def separation(
    predictions: pl.DataFrame, value: pl.Expr, category: Category, settings: BootstrapSettings
) -> Interval:
    """How well a figure of predictions tells the scenarios of a category from the others.

    The probability that one of these has a larger figure than one of the others, a tie counting
    half: the area under the receiver operating characteristic (Hanley and McNeil, 1982, "The
    meaning and use of the area under a receiver operating characteristic (ROC) curve"). 0.5 tells
    nothing.
    """
    unit = ["category", "scenario", "seed"]
    table = (
        predictions.group_by(unit)
        .agg(value.cast(pl.Float64).mean().round(12).alias("value"))
        .sort(unit)
    )
    values = table["value"].to_numpy()
    those = (table["category"] == category).to_numpy()
    # 1 where the first is larger, 0.5 where both are alike
    wins = (np.sign(values[those][:, None] - values[~those][None, :]) + 1) / 2
    seeds = tuple(seed_counts(part) for part in table.partition_by("category"))

    def statistic(weights: Weights) -> Array:
        counts = np.concatenate(weights, axis=-1)
        apart, others = counts[..., those], counts[..., ~those]
        won = np.einsum("...i,...i->...", apart @ wins, others)
        return np.asarray(won / (apart.sum(axis=-1) * others.sum(axis=-1)))[None]

    area = float(statistic(once(seeds))[0])
    low, high, method = resample(seeds, statistic, settings).number(0, area)
    return Interval(
        value=area,
        ci_low=low,
        ci_high=high,
        n=table["scenario"].n_unique(),
        method=method,
        resampling_unit=unit_of(seeds),
        estimand=f"probability that a new {category} scenario has a larger figure than another",
    )
