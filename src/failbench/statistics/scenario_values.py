"""Scenario values: numbers of scenarios and seeds whose sums over scenarios make a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ABSTAIN, ANSWERS, CATEGORIES
from failbench.statistics.bootstrap import Seeds, Weights, once, seed_counts

UNIT = ("category", "scenario", "seed")
"""What rows are summed over: a row for each scenario and seed."""

RESOLUTION = 1e-6
"""Probabilities of prediction files have six decimals: a zero among them is anything below this."""


def by_category(rows: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], Seeds]:
    """Rows of each category that has any, and those of each scenario, in the order of resampling.

    The rows have ``category``, ``scenario`` and ``seed``, and are sorted by them.
    """
    parts = {str(category): rows.filter(category=category) for category in CATEGORIES}
    parts = {category: part for category, part in parts.items() if part.height}
    return parts, tuple(map(seed_counts, parts.values()))


@dataclass(frozen=True)
class ScenarioValues:
    """What is summed over scenarios, in the order of :func:`by_category`."""

    values: Mapping[str, Array]
    """By category: an array ``[n_rows, ...]``, a row per scenario and seed, of one trailing shape
    for all categories."""
    seeds: Seeds
    """Rows of each scenario, by category."""

    @property
    def n(self) -> int:
        """Number of scenarios."""
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scenarios of each category."""
        return tuple(len(counts) for counts in self.seeds)

    def sums(self, weights: Weights | None = None) -> Array:
        """Sums over scenarios, ``[..., *trailing]``; each counts once where no weights are given.

        Weights are by category, ``[..., n_rows]``.
        """
        weighted = zip(weights or once(self.seeds), self.values.values(), strict=True)
        sums = [np.tensordot(weight, part, axes=1) for weight, part in weighted]
        return np.asarray(np.sum(sums, axis=0), dtype=np.float64)


@dataclass(frozen=True)
class ScenarioAnswers(ScenarioValues):
    """What a method answered, by scenario and seed: ``[n_rows, n_repeats, n_answers]``.

    The values are the shares of a scenario's and seed's runs (architectures, recordings) that got
    each answer in a repeat.
    """

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories that have a scenario."""
        return tuple(self.values)

    def confusion(self, weights: Weights | None = None) -> Array:
        """Sums of shares over scenarios: ``[..., n_repeats, n_categories, n_answers]``.

        Each scenario counts once where no weights are given.
        """
        parts = self.values.values()
        if weights is None:
            weighted = zip(once(self.seeds), parts, strict=True)
            sums = [(weight[:, None, None] * part).sum(axis=0) for weight, part in weighted]
        else:
            weighted = zip(weights, parts, strict=True)
            sums = [np.tensordot(weight, part, axes=1) for weight, part in weighted]
        return np.stack(sums, axis=-2)


def scenario_answers(predictions: pl.DataFrame) -> ScenarioAnswers:
    """Collect predictions (rows of one method and feature set) by scenario, seed and repeat.

    Categories without a scenario are left out, and scores are means over those that are there.
    A seed of a scenario that was not tested in every repeat is refused.
    """
    repeats = predictions["repeat"].n_unique()
    columns = {
        answer: (pl.col("prediction") == answer).mean().cast(pl.Float64) for answer in ANSWERS
    }
    table = predictions.group_by(*UNIT, "repeat").agg(**columns).sort(*UNIT, "repeat")
    if table.height != repeats * table.select(UNIT).n_unique():
        raise BadInputError(
            "predictions",
            "repeat",
            "a seed of a scenario was not tested in every repeat.",
            "Test all runs in all repeats.",
        )
    parts, seeds = by_category(table)
    shape = (-1, repeats, len(ANSWERS))
    shares = {name: part.select(ANSWERS).to_numpy().reshape(shape) for name, part in parts.items()}
    return ScenarioAnswers(shares, seeds)


def ratio(sums: Array) -> Array:
    """First sum over second, ``[..., 2]`` to ``[...]``; zero where the second is zero."""
    part, whole = sums[..., 0], sums[..., 1]
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def over_scenarios(predictions: pl.DataFrame, value: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is a mean over scenarios of a number for each prediction, ``[n_rows, 2]``.

    The number of a scenario and seed is the mean over its runs and repeats that are not null; one
    that has none does not count.
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

    The table has a row for each scenario, with ``category`` and ``scenario``: what is known of a
    scenario and not of its seeds.
    """
    counts = weight.cast(pl.Float64)
    scenarios = table.with_columns(seed=pl.lit(0))
    return _collect(scenarios, (value.cast(pl.Float64) * counts).first(), counts.first())


def _collect(predictions: pl.DataFrame, part: pl.Expr, whole: pl.Expr) -> ScenarioValues:
    table = predictions.group_by(UNIT).agg(part=part, whole=whole).sort(UNIT)
    parts, seeds = by_category(table)
    pairs = {name: rows.select("part", "whole").to_numpy() for name, rows in parts.items()}
    return ScenarioValues({name: pair.astype(np.float64) for name, pair in pairs.items()}, seeds)


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
