"""Difference intervals: how far apart two methods are, over scenarios drawn anew."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from failbench.errors import BadInputError
from failbench.evaluation.corrected_t import ROUNDING
from failbench.evaluation.paired import Pair, PairedScores
from failbench.evaluation.scores import Array

Bounds = tuple[float, float]

BATCH = 1000
"""Resamples held in memory at once."""


def difference_bounds(
    scores: PairedScores, pairs: Sequence[Pair], resamples: int, confidence: float, seed: int
) -> list[Bounds | None]:
    """BCa bounds of each pair's difference in accuracy, conditional on the fitted models.

    Scenarios are resampled within categories (Efron, 1987, as in `scipy.stats.bootstrap`), once for
    all pairs: a scenario that is drawn brings the answers of every method, in all repeats.

    Returns
    -------
    list
        The bounds; None where all resamples agree, and so say nothing of the spread.

    Raises
    ------
    BadInputError
        If a category has a single scenario: there is nothing to resample then.
    """
    groups = scores.scenarios.partition_by("category", maintain_order=True)
    for group in groups:
        if group.height < 2:
            raise BadInputError(
                "predictions",
                "scenario",
                f"{group['category'][0]} has a single scenario.",
                "An interval needs at least two scenarios a category.",
            )
    values = [group.select(scores.methods).to_numpy().T for group in groups]
    lefts, rights = ([scores.methods.index(pair[side]) for pair in pairs] for side in (0, 1))

    def statistic(*indices: npt.NDArray[np.intp], axis: int) -> Array:
        sums = [
            one[:, index].sum(axis=axis) for one, index in zip(values, indices, strict=True)
        ]  # [n_methods, ...] a category
        accuracies = np.sum(sums, axis=0) / scores.n
        # The bias correction counts ties with the observed value; rounding keeps them ties.
        return np.asarray((accuracies[lefts] - accuracies[rights]).round(12), dtype=np.float64)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        warnings.filterwarnings("ignore", "invalid value encountered", RuntimeWarning)
        # One sample a category: scenarios are resampled within categories.
        result = stats.bootstrap(
            tuple(np.arange(group.height) for group in groups),
            statistic,
            n_resamples=resamples,
            batch=BATCH,
            vectorized=True,
            confidence_level=confidence,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    found = zip(*result.confidence_interval, result.standard_error, strict=True)
    return [(float(low), float(high)) if error > ROUNDING else None for low, high, error in found]
