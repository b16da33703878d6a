"""Scenario values: numbers of scenarios and seeds whose sums over scenarios make a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.statistics.row_weights import Seeds, Weights, once, seed_counts

RESOLUTION = 1e-6
"""Probabilities of prediction files have six decimals: a zero among them is anything below this."""


@dataclass(frozen=True)
class ScenarioValues:
    """What is summed over scenarios, in the order of ``scores.scenario_answers``.

    Attributes
    ----------
    values
        By category: an array ``[n_rows, ...]``, a row per scenario and seed, of one trailing shape
        for all categories.
    seeds
        Rows of each scenario, by category.
    """

    values: Mapping[str, Array]
    seeds: Seeds

    def sums(self, weights: Weights | None = None) -> Array:
        """Sums over scenarios, ``[..., *trailing]``; each counts once where no weights are given.

        Parameters
        ----------
        weights
            By category, ``[..., n_rows]``.
        """
        weighted = zip(weights or once(self.seeds), self.values.values(), strict=True)
        sums = [np.tensordot(weight, part, axes=1) for weight, part in weighted]
        return np.asarray(np.sum(sums, axis=0), dtype=np.float64)


def ratio(sums: Array) -> Array:
    """First sum over second, ``[..., 2]`` to ``[...]``; zero where the second is zero."""
    part, whole = sums[..., 0], sums[..., 1]
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def over_scenarios(predictions: pl.DataFrame, value: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is a mean over scenarios, ``[n_rows, 2]``.

    Parameters
    ----------
    predictions
        Rows of one method and feature set.
    value
        A number for a prediction. That of a scenario and seed is the mean over its runs and repeats
        that are not null; one that has none does not count.
    """
    mean = value.cast(pl.Float64).mean()
    return _collect(predictions, mean.fill_null(0.0), mean.is_not_null().cast(pl.Float64))


def over_committed(predictions: pl.DataFrame, value: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is a mean over predictions that are no abstentions, ``[n_rows, 2]``.

    A scenario counts as often as it is committed on, a share of its runs and repeats.
    """
    return over_those(predictions, value, pl.col("prediction") != ABSTAIN)


def over_those(predictions: pl.DataFrame, value: pl.Expr, those: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is the share of ``value`` among some predictions, ``[n_rows, 2]``.

    A scenario counts as often as it is among those, a share of its runs and repeats.
    """
    return _collect(predictions, (value & those).mean(), those.mean())


def weighted_mean(table: pl.DataFrame, value: pl.Expr, weight: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is a weighted mean over scenarios, ``[n_scenarios, 2]``.

    Parameters
    ----------
    table
        A row for each scenario, with ``category`` and ``scenario``: what is known of a scenario
        and not of its seeds.
    value, weight
        A number or a truth value for each scenario, and how much it counts.
    """
    counts = weight.cast(pl.Float64)
    scenarios = table.with_columns(seed=pl.lit(0))
    return _collect(scenarios, (value.cast(pl.Float64) * counts).first(), counts.first())


def _collect(predictions: pl.DataFrame, part: pl.Expr, whole: pl.Expr) -> ScenarioValues:
    unit = ["category", "scenario", "seed"]
    table = predictions.group_by(unit).agg(part=part, whole=whole).sort(unit)
    values, seeds = {}, []
    for category in CATEGORIES:
        rows = table.filter(pl.col("category") == category)
        if rows.height:
            values[str(category)] = rows.select("part", "whole").to_numpy().astype(np.float64)
            seeds.append(seed_counts(rows))
    return ScenarioValues(values, tuple(seeds))


def right() -> pl.Expr:
    """Whether the answer is the injected cause; an abstention never is."""
    return pl.col("prediction") == pl.col("category")


def right_or_abstaining_on_unknown() -> pl.Expr:
    """Whether the answer is the cause, or the scenario is unknown and the answer an abstention."""
    return right() | ((pl.col("category") == "unknown") & (pl.col("prediction") == ABSTAIN))


def squared_error() -> pl.Expr:
    """Squared distance of the probabilities from the cause, summed over categories, from 0 to 2.

    The score of Brier (1950), "Verification of forecasts expressed in terms of probability", in his
    own form: not halved, as the one for two categories often is.
    """
    errors = (
        (pl.col(f"p_{category}") - (pl.col("category") == category).cast(pl.Float64)) ** 2
        for category in CATEGORIES
    )
    return pl.sum_horizontal(errors)


def surprise() -> pl.Expr:
    """Minus the natural logarithm of the probability of the cause, in nats (Good, 1952).

    A probability below the resolution of prediction files counts as that resolution, so that no
    answer costs more than 13.8.
    """
    of_cause = pl.sum_horizontal(
        pl.when(pl.col("category") == category).then(pl.col(f"p_{category}")).otherwise(0.0)
        for category in CATEGORIES
    )
    return -of_cause.clip(lower_bound=RESOLUTION).log()
