"""Difference intervals: how far apart two methods are, over scenarios drawn anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import BootstrapSettings, resample
from failbench.statistics.paired_scores import Pair, PairedScores
from failbench.statistics.row_weights import Weights, seed_counts

Bounds = tuple[float, float]


def difference_bounds(
    scores: PairedScores, pairs: Sequence[Pair], resamples: int, confidence: float, seed: int
) -> list[Bounds | None]:
    """BCa bounds of each pair's difference in accuracy, conditional on the fitted models.

    Scenarios are resampled within categories, then their seeds (see
    :mod:`failbench.statistics.bootstrap`), once for all pairs: what is drawn brings the answers of
    every method, in all repeats.

    Returns
    -------
    list
        The bounds; None where all resamples agree, and so say nothing of the spread.

    Raises
    ------
    BadInputError
        If a category has a single scenario: there is nothing to resample then.
    """
    groups = scores.seeds.partition_by("category", maintain_order=True)
    seeds = tuple(seed_counts(group) for group in groups)
    for group, rows in zip(groups, seeds, strict=True):
        if len(rows) < 2:
            raise BadInputError(
                "predictions",
                "scenario",
                f"{group['category'][0]} has a single scenario.",
                "An interval needs at least two scenarios a category.",
            )
    values = [group.select(scores.methods).to_numpy().T for group in groups]
    lefts, rights = ([scores.methods.index(pair[side]) for pair in pairs] for side in (0, 1))

    def statistic(weights: Weights) -> Array:
        sums = [
            np.tensordot(correct, weight, axes=(-1, -1))
            for correct, weight in zip(values, weights, strict=True)
        ]  # [n_methods, ...] for each category
        accuracies = np.sum(sums, axis=0) / scores.n
        return np.asarray(accuracies[lefts] - accuracies[rights], dtype=np.float64)

    settings = BootstrapSettings(resamples=resamples, confidence=confidence, seed=seed)
    resampled = resample(seeds, statistic, settings)
    return [
        None if agree else (float(low), float(high))
        for agree, (low, high) in zip(resampled.agree, resampled.bca, strict=True)
    ]
