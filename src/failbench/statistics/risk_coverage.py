"""Risk and coverage: how often a method is wrong if only its most confident answers are taken.

Selective risk against coverage is the curve of El-Yaniv and Wiener (2010, "On the foundations of
noise-free selective classification", JMLR 11); the area under it is the score of Geifman and
El-Yaniv (2017, "Selective classification for deep neural networks", NeurIPS) and of Geifman, Uziel
and El-Yaniv (2019, "Bias-reduced uncertainty estimation for deep neural classifiers", ICLR). Theirs
adds up a risk per run; here the curve is linear in its errors between runs and the area is its
integral, which has the same limit and does not depend on how runs of equal confidence are ordered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.statistics.bootstrap import BootstrapSettings, Indices, Interval, resample
from failbench.statistics.row_weights import Weights, once, unit_of
from failbench.statistics.scenario_values import right
from failbench.statistics.scores import scenario_answers


@dataclass(frozen=True)
class Ranking:
    """The runs of one repeat by falling confidence."""

    row: Indices
    share: Array
    wrong: Array
    starts: Indices

    def cumulative(self, weights: Array) -> tuple[Array, Array]:
        """Coverage and share of errors up to the end of each block, from nothing to everything."""
        runs = weights[..., self.row] * self.share
        covered = np.cumsum(np.add.reduceat(runs, self.starts, axis=-1), axis=-1)
        errors = np.cumsum(np.add.reduceat(runs * self.wrong, self.starts, axis=-1), axis=-1)
        start = [(0, 0)] * (runs.ndim - 1) + [(1, 0)]
        whole = covered[..., -1:]
        return np.pad(covered / whole, start), np.pad(errors / whole, start)


def rankings(predictions: pl.DataFrame) -> tuple[Ranking, ...]:
    """Rank the runs of each repeat; rows are of one method and feature set.

    Abstentions come last, whatever confidence they were given, and count as wrong, as they do in
    accuracy: at full coverage the risk is one less accuracy.
    """
    unit = ["category", "scenario", "seed"]
    ranked = (
        predictions.join(_rows(predictions), on=unit, nulls_equal=True)
        .select(
            "repeat",
            "row",
            share=1 / pl.len().over("repeat", "scenario"),
            wrong=(~right()).cast(pl.Float64),
            confidence=pl.when(pl.col("prediction") == ABSTAIN).then(-1.0).otherwise("confidence"),
        )
        .sort("repeat", "confidence", "row", descending=[False, True, False])
    )
    return tuple(
        Ranking(
            part["row"].to_numpy(),
            part["share"].to_numpy(),
            part["wrong"].to_numpy(),
            np.flatnonzero(np.diff(part["confidence"].to_numpy(), prepend=np.inf)),
        )
        for _, part in ranked.group_by("repeat", maintain_order=True)
    )


def _rows(predictions: pl.DataFrame) -> pl.DataFrame:
    """Every scenario and seed with its ``row``, in the order in which they are resampled."""
    order = {category: position for position, category in enumerate(CATEGORIES)}
    return (
        predictions.select("category", "scenario", "seed")
        .unique()
        .sort(pl.col("category").replace_strict(order, return_dtype=pl.Int64), "scenario", "seed")
        .with_row_index("row")
    )


def risk_curve(ranked: tuple[Ranking, ...], coverage: Array) -> Array:
    """Risk at each coverage above zero, ``[n_points]``: per repeat, then averaged.

    Where a block of equal confidence is taken in part, its errors are those of a random part.
    """
    weights = np.ones(1 + max(int(ranking.row.max()) for ranking in ranked))
    errors = [np.interp(coverage, *ranking.cumulative(weights)) for ranking in ranked]
    return np.asarray(np.mean(errors, axis=0) / coverage, dtype=np.float64)


def area_under(ranked: tuple[Ranking, ...], weights: Array) -> Array:
    """Integral of risk over coverage from zero to one, ``[..., n_rows]`` to ``[...]``.

    In closed form: errors are a line a + b c over each block, and the integral of a / c + b is
    a ln c + b c.
    """
    areas = []
    for ranking in ranked:
        covered, errors = ranking.cumulative(weights)
        before, width = covered[..., :-1], np.diff(covered)
        slope = _quotient(np.diff(errors), width)
        offset = errors[..., :-1] - slope * before
        # Where coverage starts so does the error, and the offset is zero.
        growth = np.log(_quotient(covered[..., 1:], before, otherwise=1.0))
        areas.append((offset * growth + slope * width).sum(axis=-1))
    return np.asarray(np.mean(areas, axis=0), dtype=np.float64)


def _quotient(part: Array, whole: Array, otherwise: float = 0.0) -> Array:
    return np.divide(part, whole, out=np.full_like(part, otherwise), where=whole > 0)


def area_interval(predictions: pl.DataFrame, settings: BootstrapSettings) -> Interval:
    """The area with its BCa interval over scenarios and seeds."""
    ranked = rankings(predictions)
    seeds = scenario_answers(predictions).seeds
    of_rows = np.concatenate([np.repeat(rows, rows) for rows in seeds])

    def statistic(weights: Weights) -> Array:
        return area_under(ranked, np.concatenate(weights, axis=-1) * of_rows)[None]

    value = float(statistic(once(seeds))[0])
    low, high, method = resample(seeds, statistic, settings).number(0, value)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=predictions["scenario"].n_unique(),
        method=method,
        resampling_unit=unit_of(seeds),
        estimand="mean over coverages of the probability that a run of a new scenario among those "
        "that the method is most confident of is not diagnosed right",
    )
