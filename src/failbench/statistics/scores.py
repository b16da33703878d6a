"""Scores: rates over confusion shares, vectorised over any leading axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.vocabulary import ABSTAIN, ANSWERS, CATEGORIES
from failbench.statistics.row_weights import Seeds, Weights, once, seed_counts

Score = Callable[[Array, tuple[str, ...]], Array]
"""From confusions ``[..., n_repeats, n_categories, n_answers]`` and the categories to ``[...]``."""


@dataclass(frozen=True)
class ScenarioAnswers:
    """What a method answered, by scenario and seed: the units that are resampled.

    Attributes
    ----------
    shares
        By category: an array ``[n_rows, n_repeats, n_answers]``, a row per scenario and seed, with
        the share of its runs that got each answer in a repeat. Runs of the same scenario and seed
        (architectures, recordings) stay together.
    seeds
        Rows of each scenario, by category.
    """

    shares: Mapping[str, Array]
    seeds: Seeds

    @property
    def n(self) -> int:
        """Number of scenarios."""
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scenarios of each category."""
        return tuple(len(counts) for counts in self.seeds)

    def confusion(self, weights: Weights | None = None) -> Array:
        """Sums of shares over scenarios: ``[..., n_repeats, n_categories, n_answers]``.

        Each scenario counts once where no weights are given.
        """
        parts = self.shares.values()
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

    Raises
    ------
    BadInputError
        If a seed of a scenario was not tested in every repeat.
    """
    repeats = predictions["repeat"].n_unique()
    unit = ["category", "scenario", "seed"]
    columns = {
        answer: (pl.col("prediction") == answer).mean().cast(pl.Float64) for answer in ANSWERS
    }
    table = predictions.group_by(*unit, "repeat").agg(**columns).sort(*unit, "repeat")
    if table.height != repeats * table.select(unit).n_unique():
        raise BadInputError(
            "predictions",
            "repeat",
            "a seed of a scenario was not tested in every repeat.",
            "Test all runs in all repeats.",
        )
    shares, seeds = {}, []
    for category in CATEGORIES:
        rows = table.filter(pl.col("category") == category)
        if rows.height:
            numbers = rows.select(ANSWERS).to_numpy()
            shares[str(category)] = numbers.reshape(-1, repeats, len(ANSWERS))
            seeds.append(seed_counts(rows))
    return ScenarioAnswers(shares, tuple(seeds))


def right_answers(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Shares on the diagonal, ``[..., n_categories]``; an abstention is never correct."""
    columns = [ANSWERS.index(category) for category in categories]
    diagonal: Array = confusion[..., np.arange(len(categories)), columns]
    return diagonal


def accuracy(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Correct / all, mean over repeats: the mean over scenarios of their mean correctness."""
    correct = right_answers(confusion, categories).sum(axis=-1) / confusion.sum(axis=(-2, -1))
    return _over_repeats(correct)


def recalls(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Recall of each category in each repeat, ``[..., n_repeats, n_categories]``."""
    return _ratio(right_answers(confusion, categories), confusion.sum(axis=-1))


def balanced_accuracy(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Mean recall over categories, computed per repeat and averaged."""
    return _over_repeats(recalls(confusion, categories).mean(axis=-1))


def f1_scores(confusion: Array, categories: tuple[str, ...]) -> Array:
    """F1 of each category in each repeat; zero where it has neither runs nor answers."""
    columns = [ANSWERS.index(category) for category in categories]
    right = right_answers(confusion, categories)
    answered = confusion.sum(axis=-2)[..., columns]
    return _ratio(2 * right, confusion.sum(axis=-1) + answered)


def macro_f1(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Mean F1 over categories, computed per repeat and averaged."""
    return _over_repeats(f1_scores(confusion, categories).mean(axis=-1))


def abstention(confusion: Array, categories: tuple[str, ...]) -> Array:  # noqa: ARG001
    """Share of abstentions, mean over repeats."""
    abstained = confusion[..., ANSWERS.index(ABSTAIN)].sum(axis=-1)
    return _over_repeats(abstained / confusion.sum(axis=(-2, -1)))


def category_recall(confusion: Array, categories: tuple[str, ...], category: str) -> Array:
    """Recall of one category, mean over repeats."""
    return _over_repeats(recalls(confusion, categories)[..., categories.index(category)])


def category_f1(confusion: Array, categories: tuple[str, ...], category: str) -> Array:
    """F1 of one category, computed per repeat and averaged."""
    return _over_repeats(f1_scores(confusion, categories)[..., categories.index(category)])


def category_precision(confusion: Array, categories: tuple[str, ...], category: str) -> Array:
    """Share of a category among those that it is named for, computed per repeat and averaged.

    Over the repeats that name it at all; zero where none does.
    """
    right = right_answers(confusion, categories)[..., categories.index(category)]
    named = _named(confusion, category)
    return _ratio(_ratio(right, named).sum(axis=-1), (named > 0).sum(axis=-1))


def category_named(confusion: Array, categories: tuple[str, ...], category: str) -> Array:  # noqa: ARG001
    """Scenarios for which a category is named, of any category, mean over repeats."""
    return _over_repeats(_named(confusion, category))


def _named(confusion: Array, category: str) -> Array:
    return np.asarray(confusion[..., ANSWERS.index(category)].sum(axis=-1), dtype=np.float64)


def _over_repeats(values: Array) -> Array:
    return np.asarray(values.mean(axis=-1), dtype=np.float64)


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros_like(part, dtype=np.float64), where=whole > 0)
