"""Scenario values: numbers of scenarios and seeds whose sums over scenarios make a figure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ABSTAIN, ANSWERS, CATEGORIES
from failbench.statistics.bootstrap import SeedsByCategory, Weights, once, seed_counts

UNIT = ("category", "scenario", "seed")  # what rows are summed over
RESOLUTION = 1e-6  # of stored probabilities: a zero among them is anything below this


def by_category(rows: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], SeedsByCategory]:
    """Rows of each category, and of each scenario, in the order of resampling."""
    parts = {str(category): rows.filter(category=category) for category in CATEGORIES}
    parts = {category: part for category, part in parts.items() if part.height}
    return parts, tuple(map(seed_counts, parts.values()))


@dataclass(frozen=True)
class ScenarioValues:
    """What is summed over scenarios, in the order of :func:`by_category`."""

    values: Mapping[str, Array]  # by category, ``[n_rows, ...]`` of one trailing shape
    seeds: SeedsByCategory  # rows of each scenario, by category

    @property
    def n(self) -> int:
        """Number of scenarios."""
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scenarios of each category."""
        return tuple(len(counts) for counts in self.seeds)

    def sums(self, weights: Weights | None = None) -> Array:
        """Sums over scenarios, ``[..., *trailing]``, each once or by weights ``[..., n_rows]``."""
        weighted = zip(weights or once(self.seeds), self.values.values(), strict=True)
        sums = [np.tensordot(weight, part, axes=1) for weight, part in weighted]
        return np.asarray(np.sum(sums, axis=0), dtype=np.float64)


@dataclass(frozen=True)
class ScenarioAnswers(ScenarioValues):
    """Shares of runs by answer: by category, ``[n_rows, n_repeats, n_answers]``."""

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories that have a scenario."""
        return tuple(self.values)

    def confusion(self, weights: Weights | None = None) -> Array:
        """Sums of shares over scenarios: ``[..., n_repeats, n_categories, n_answers]``."""
        parts = self.values.values()
        if weights is None:
            weighted = zip(once(self.seeds), parts, strict=True)
            sums = [(weight[:, None, None] * part).sum(axis=0) for weight, part in weighted]
        else:
            weighted = zip(weights, parts, strict=True)
            sums = [np.tensordot(weight, part, axes=1) for weight, part in weighted]
        return np.stack(sums, axis=-2)


def scenario_answers(predictions: pl.DataFrame) -> ScenarioAnswers:
    """Answers of one method by scenario, seed and repeat; each seed must be in every repeat."""
    repeats = predictions["repeat"].n_unique()
    columns = {
        answer: (pl.col("prediction") == answer).mean().cast(pl.Float64) for answer in ANSWERS
    }
    table = predictions.group_by(*UNIT, "repeat").agg(**columns).sort(*UNIT, "repeat")
    if table.height != repeats * table.select(UNIT).n_unique():
        problem = "a seed of a scenario was not tested in every repeat."
        raise BadInputError("predictions", "repeat", problem, "Test all runs in all repeats.")
    parts, seeds = by_category(table)
    shape = (-1, repeats, len(ANSWERS))
    shares = {name: part.select(ANSWERS).to_numpy().reshape(shape) for name, part in parts.items()}
    return ScenarioAnswers(shares, seeds)


def quotient(part: Array, whole: Array, otherwise: float = 0.0) -> Array:
    """Part over whole, or another number where the whole is not above zero."""
    out = np.full_like(part, otherwise, dtype=np.float64)
    return np.divide(part, whole, out=out, where=whole > 0)


def ratio(sums: Array) -> Array:
    """First sum over second, ``[..., 2]`` to ``[...]``; zero where the second is zero."""
    return quotient(sums[..., 0], sums[..., 1])


def over_scenarios(predictions: pl.DataFrame, value: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is a mean over scenarios and seeds of their means that are not null."""
    mean = value.cast(pl.Float64).mean()
    return _collect(predictions, mean.fill_null(0.0), mean.is_not_null().cast(pl.Float64))


def over_committed(predictions: pl.DataFrame, value: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is a mean over committed predictions, a scenario by its share of them."""
    return over_those(predictions, value, pl.col("prediction") != ABSTAIN)


def over_those(predictions: pl.DataFrame, value: pl.Expr, those: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is the share of ``value`` among some predictions, ``[n_rows, 2]``."""
    return _collect(predictions, (value & those).mean(), those.mean())


def weighted_mean(table: pl.DataFrame, value: pl.Expr, weight: pl.Expr) -> ScenarioValues:
    """Sums whose ratio is a weighted mean over scenarios, each a row: ``[n_scenarios, 2]``."""
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
    """Squared distance from the cause, 0 to 2 as in Brier (1950) himself, not halved."""
    errors = (
        (pl.col(f"p_{category}") - (pl.col("category") == category).cast(pl.Float64)) ** 2
        for category in CATEGORIES
    )
    return pl.sum_horizontal(errors)


def surprise() -> pl.Expr:
    """Minus log probability of the cause (Good, 1952), at most 13.8 nats: files' resolution."""
    of_cause = pl.sum_horizontal(
        pl.when(pl.col("category") == category).then(pl.col(f"p_{category}")).otherwise(0.0)
        for category in CATEGORIES
    )
    return -of_cause.clip(lower_bound=RESOLUTION).log()
