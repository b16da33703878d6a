"""Paired scores: what several methods scored on the same folds, scenario by scenario."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.row_weights import seed_counts, unit_of

Pair = tuple[str, str]
"""Two methods; differences are the first less the second."""


@dataclass(frozen=True)
class PairedScores:
    """Correctness of several methods on the same test folds, with a column for each method.

    The runs of a scenario are averaged inside a fold first, so that a scenario counts once however
    many runs it has. Abstentions are never correct.

    Attributes
    ----------
    methods
        Their names, sorted.
    folds
        ``repeat``, ``fold``, ``tested`` (scenarios) and the accuracy of each method in the fold.
    seeds
        ``category``, ``scenario``, ``seed`` and the correctness of each method, mean over repeats;
        sorted.
    first
        ``scenario`` and whether each method was right in the first repeat; a scenario with several
        runs counts as right where more than half of them are.
    """

    methods: tuple[str, ...]
    folds: pl.DataFrame
    seeds: pl.DataFrame
    first: pl.DataFrame

    @cached_property
    def scenarios(self) -> pl.DataFrame:
        """``category``, ``scenario`` and the correctness of each method, mean over its seeds."""
        return (
            self.seeds.group_by("category", "scenario")
            .agg(pl.col(self.methods).mean())
            .sort("category", "scenario")
        )

    @property
    def n(self) -> int:
        """Number of scenarios."""
        return self.scenarios.height

    @property
    def unit(self) -> str:
        """What the bootstrap resamples, in words."""
        return unit_of((seed_counts(self.seeds),))

    @property
    def repeats(self) -> int:
        """Number of repeats."""
        return self.folds["repeat"].n_unique()

    @property
    def tested(self) -> float:
        """Scenarios that a fold tests, on average; it trains on the others."""
        return float(self.folds["tested"].to_numpy().mean())

    def fold_scores(self, method: str) -> Array:
        """Accuracy in each fold, ``[n_repeats * n_folds]``, repeat by repeat."""
        return self.folds[method].to_numpy()

    def first_repeat(self, method: str) -> Array:
        """Accuracy in each fold of the first repeat, ``[n_folds]``."""
        first = self.folds["repeat"] == self.folds["repeat"].min()
        return self.folds.filter(first)[method].to_numpy()

    def scenario_scores(self, method: str) -> Array:
        """Correctness of each scenario, mean over repeats, ``[n_scenarios]``."""
        return self.scenarios[method].to_numpy()


def paired_scores(predictions: pl.DataFrame) -> PairedScores:
    """Line up the predictions of several methods on one feature set.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one feature set.

    Raises
    ------
    BadInputError
        If there is a single method, or the methods were not all tested in the same folds on the
        same scenarios.
    """
    correct = (pl.col("prediction") == pl.col("category")).cast(pl.Float64)
    return paired_shares(predictions.with_columns(correct=correct))


def paired_shares(answers: pl.DataFrame) -> PairedScores:
    """Line up several methods of whose answers no more is known than how far they are right.

    Parameters
    ----------
    answers
        ``method``, ``repeat``, ``fold``, ``category``, ``scenario``, ``seed`` and ``correct``, from
        0 to 1.

    Raises
    ------
    BadInputError
        As :func:`paired_scores` does.
    """
    methods = tuple(answers["method"].unique().sort().to_list())
    if len(methods) < 2:
        raise BadInputError(
            "predictions", "method", "there is a single method.", "Predict with at least two."
        )
    keys = ["repeat", "fold", "category", "scenario"]
    by_seed = answers.pivot(
        "method", index=[*keys, "seed"], values="correct", aggregate_function="mean"
    ).sort(*keys, "seed")
    for method in methods:
        if by_seed[method].null_count():
            raise BadInputError(
                "predictions",
                "method",
                f"{method} was not tested in all the folds, scenarios and seeds of the others.",
                "Run `dvc repro nested_cv`, so that all methods share their splits.",
            )
    by_scenario = by_seed.group_by(keys).agg(pl.col(methods).mean()).sort(keys)
    return PairedScores(
        methods,
        folds=by_scenario.group_by("repeat", "fold")
        .agg(pl.len().alias("tested"), pl.col(methods).mean())
        .sort("repeat", "fold"),
        seeds=by_seed.group_by("category", "scenario", "seed")
        .agg(pl.col(methods).mean())
        .sort("category", "scenario", "seed"),
        first=by_scenario.filter(pl.col("repeat") == pl.col("repeat").min())
        .sort("scenario")
        .select("scenario", pl.col(methods) > 0.5),
    )
