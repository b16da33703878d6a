"""Pairs: methods or studies on the same scenarios, and how far apart they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import (
    BootstrapSettings,
    Bounds,
    Interval,
    Weights,
    resample,
    resampled_interval,
    seed_counts,
    unit_of,
)
from failbench.statistics.scenario_values import over_scenarios, ratio
from failbench.statistics.scenario_values import right as is_right

Pair = tuple[str, str]  # two methods; differences are the first less the second


@dataclass(frozen=True)
class PairedScores:
    """Correctness by method on the same folds; a scenario's runs are averaged in each first."""

    methods: tuple[str, ...]  # sorted
    folds: pl.DataFrame  # ``repeat``, ``fold``, ``tested`` (scenarios), accuracy by method
    seeds: pl.DataFrame  # ``category``, ``scenario``, ``seed``, mean correctness by method
    first: pl.DataFrame  # ``scenario``, and most runs right in the first repeat by method

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
    def tested(self) -> float:
        """Scenarios that a fold tests, on average; it trains on the others."""
        return float(self.folds["tested"].to_numpy().mean())

    def fold_scores(self, method: str) -> Array:
        """Accuracy in each fold, ``[n_repeats * n_folds]``, repeat by repeat."""
        return self.folds[method].to_numpy()

    def scenario_scores(self, method: str) -> Array:
        """Correctness of each scenario, mean over repeats, ``[n_scenarios]``."""
        return self.scenarios[method].to_numpy()


def paired_scores(predictions: pl.DataFrame) -> PairedScores:
    """Line up the predictions of several methods on one feature set."""
    correct = (pl.col("prediction") == pl.col("category")).cast(pl.Float64)
    return paired_shares(predictions.with_columns(correct=correct))


def paired_shares(answers: pl.DataFrame) -> PairedScores:
    """Line up several methods, tested alike, of which ``correct``, from 0 to 1, is known."""
    methods = tuple(answers["method"].unique().sort().to_list())
    if len(methods) < 2:
        problem = "there is a single method."
        raise BadInputError("predictions", "method", problem, "Predict with at least two.")
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


def difference_bounds(
    scores: PairedScores, pairs: Sequence[Pair], settings: BootstrapSettings
) -> list[tuple[float, float] | None]:
    """BCa bounds of pairs' differences in accuracy, given the fitted models; None if all agree."""
    # Scenarios are resampled once for all pairs: what is drawn brings every method and repeat. A
    # category with a single scenario has nothing to resample, and is refused.
    groups = scores.seeds.partition_by("category", maintain_order=True)
    seeds = tuple(seed_counts(group) for group in groups)
    for group, rows in zip(groups, seeds, strict=True):
        if len(rows) < 2:
            problem = f"{group['category'][0]} has a single scenario."
            remedy = "An interval needs at least two scenarios a category."
            raise BadInputError("predictions", "scenario", problem, remedy)
    values = [group.select(scores.methods).to_numpy().T for group in groups]
    lefts, rights = ([scores.methods.index(pair[side]) for pair in pairs] for side in (0, 1))

    def statistic(weights: Weights) -> Array:
        sums = [
            np.tensordot(correct, weight, axes=(-1, -1))
            for correct, weight in zip(values, weights, strict=True)
        ]  # [n_methods, ...] for each category
        accuracies = np.sum(sums, axis=0) / scores.n
        return np.asarray(accuracies[lefts] - accuracies[rights], dtype=np.float64)

    resampled = resample(seeds, statistic, settings)
    return [
        None if agree else (float(low), float(high))
        for agree, (low, high) in zip(resampled.agree, resampled.bca, strict=True)
    ]


def study_difference(
    predictions: pl.DataFrame, left: str, right: str, settings: BootstrapSettings, estimand: str
) -> Interval:
    """Accuracy in one study less that in another, paired over runs that both predict."""
    runs = [set(predictions.filter(pl.col("study") == study)["run_id"]) for study in (left, right)]
    shared = predictions.filter(
        pl.col("study").is_in([left, right]), pl.col("run_id").is_in(list(runs[0] & runs[1]))
    )
    scores = paired_scores(shared.with_columns(method="study", repeat=pl.lit(0), fold=pl.lit(0)))
    left_accuracy, right_accuracy = (
        float(scores.scenario_scores(study).mean()) for study in (left, right)
    )
    difference = left_accuracy - right_accuracy
    (bounds,) = difference_bounds(scores, [(left, right)], settings)
    given: Bounds = (
        (difference, difference, "point") if bounds is None else (*bounds, "BCa bootstrap")
    )
    return Interval.of(difference, given, scores.n, scores.unit, estimand)


def independent_difference(
    left: pl.DataFrame,
    right: pl.DataFrame,
    settings: BootstrapSettings,
    estimand: str,
    value: pl.Expr | None = None,
) -> Interval:
    """Mean of a value, by default accuracy, on some scenarios less that on others.

    Each are resampled within their categories.
    """
    mean = is_right() if value is None else value
    sides = [over_scenarios(rows, mean) for rows in (left, right)]
    first, second = (side.seeds for side in sides)

    def statistic(weights: Weights) -> Array:
        drawn = (weights[: len(first)], weights[len(first) :])
        of_left, of_right = (
            ratio(side.sums(each)) for side, each in zip(sides, drawn, strict=True)
        )
        return np.asarray(of_left - of_right)

    return resampled_interval((*first, *second), statistic, settings, estimand)
