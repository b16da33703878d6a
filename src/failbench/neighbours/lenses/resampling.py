"""Resampling of answers within cells of equal difficulty, and sums of them in every resample.

How many problems a cell of length and depth has is a matter of design, so that resamples keep it:
the answers of a cell are drawn with replacement (Davison and Hinkley, 1997, "Bootstrap methods and
their application", section 3.2 on several samples). The first row of weights is the sample itself.
"""

from __future__ import annotations

import numpy as np

from failbench.base.arrays import Array
from failbench.base.records import Record
from failbench.neighbours.lenses.slices import Integers


class ResamplingSettings(Record):
    """How answers are resampled."""

    resamples: int
    confidence: float
    seed: int


DEFAULT = ResamplingSettings(resamples=400, confidence=0.95, seed=0)
"""Of the command."""


def answer_weights(cells: Integers, resamples: int, rng: np.random.Generator) -> Array:
    """How often each answer counts, ``[1 + resamples, n]``; the first row is all ones."""
    weights = np.ones((1 + resamples, len(cells)))
    for cell in range(int(cells.max()) + 1):
        members = np.flatnonzero(cells == cell)
        if len(members):
            even = np.full(len(members), 1 / len(members))
            weights[1:, members] = rng.multinomial(len(members), even, size=resamples)
    return weights


def group_sums(weights: Array, groups: Integers, size: int) -> Array:
    """Sums of weights by group in every resample, ``[n_draws, size]``."""
    draws = len(weights)
    places = groups + size * np.arange(draws)[:, None]
    summed = np.bincount(places.ravel(), weights.ravel(), minlength=size * draws)
    return np.asarray(summed.reshape(draws, size), dtype=np.float64)


def ratio(above: Array, below: Array) -> Array:
    """One divided by the other, NaN where that is zero."""
    result = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result


def percentile_interval(draws: Array, confidence: float) -> tuple[float, float]:
    """Quantiles of the resamples (Efron, 1979); NaN where fewer than nine in ten have a value."""
    finite = draws[1:][np.isfinite(draws[1:])]
    if not np.isfinite(draws[0]) or len(finite) < 0.9 * (len(draws) - 1):
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(finite, (tail, 1 - tail))
    return min(float(low), float(draws[0])), max(float(high), float(draws[0]))
