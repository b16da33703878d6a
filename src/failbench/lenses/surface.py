"""The lens ``surface``: where, in length and depth, answers stop being right.

Accuracy is what exceeds guessing: right answers less those that guesses would give, by answers less
the same. A truncated answer is a failure; what is left without truncated ones stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.arrays import Array
from failbench.lenses.logistic import firth_fit
from failbench.lenses.measured import Measured
from failbench.lenses.resampling import group_sums, ratio
from failbench.lenses.slices import Scale, Slice
from failbench.statistics.intervals import wilson

POINTS: Final = pl.Schema(
    {
        "length": pl.Int64,
        "depth": pl.Int64,
        "n": pl.Int64,
        "right": pl.Int64,
        "truncated": pl.Int64,
        "accuracy": pl.Float64,
        "ci_low": pl.Float64,
        "ci_high": pl.Float64,
        "accuracy_answered": pl.Float64,
        "answered_ci_low": pl.Float64,
        "answered_ci_high": pl.Float64,
    }
)
"""A row for each cell, and with null depth for each length."""

FALL: Final = 2 * math.log(3)
"""Logits from three quarters to one quarter."""


def measure_surface(part: Slice, weights: Array, scale: Scale, confidence: float) -> Measured:
    """Measure accuracy over length and depth.

    Parameters
    ----------
    part
        The slice.
    weights
        Of its answers in the sample and in resamples, ``[n_draws, n]``.
    scale
        Not used: lengths are what they are.
    confidence
        Of the intervals of the points.
    """
    del scale
    guess = part.rows["guess"].to_numpy()
    answered = 1.0 - part.truncated
    values, group = np.unique(part.lengths, return_inverse=True)

    def by_length(of_answers: Array) -> Array:
        return group_sums(weights * of_answers, group, len(values))

    above = np.maximum(by_length(part.right - guess), 0.0)
    trials = by_length(1.0 - guess)
    whole = weights @ (part.right - guess), weights @ (1.0 - guess)
    finished = weights @ (answered * (part.right - guess)), weights @ (answered * (1.0 - guess))
    truncated, failed = weights @ part.truncated, weights @ part.failed
    n = weights.sum(axis=1)
    draws = {
        "accuracy": ratio(np.maximum(whole[0], 0.0), whole[1]),
        "accuracy_answered": ratio(np.maximum(finished[0], 0.0), finished[1]),
        "accuracy_shortest": ratio(above[:, 0], trials[:, 0]),
        "accuracy_longest": ratio(above[:, -1], trials[:, -1]),
        "truncated": ratio(truncated, n),
        "truncated_of_failures": ratio(truncated, failed),
        "depth_effect": _depth_effect(part, weights, guess),
        **_boundary(values.astype(np.float64), above, trials),
    }
    sizes = dict.fromkeys(draws, whole[1][0]) | {
        "accuracy_answered": finished[1][0],
        "accuracy_shortest": trials[0, 0],
        "accuracy_longest": trials[0, -1],
        "truncated": n[0],
        "truncated_of_failures": failed[0],
    }
    return Measured(draws, sizes, partial(_points, part, guess, confidence))


def _boundary(lengths: Array, above: Array, trials: Array) -> dict[str, Array]:
    """What the logistic fit of accuracy on length says, within and just beyond the lengths."""
    if len(lengths) < 2:
        nothing = np.full(len(above), np.nan)
        return dict.fromkeys(("boundary", "fall", "relative_fall", "slope"), nothing)
    intercept, slope = firth_fit(lengths, above, trials).T
    reach = lengths[-1] - lengths[0]
    step = float(np.median(np.diff(lengths)))
    lowest, highest = lengths[0] - step, lengths[-1] + step
    falls = slope < 0
    # where accuracy does not fall, all of it lies on one side of a boundary
    beyond = np.where(above.sum(axis=1) > 0.5 * trials.sum(axis=1), highest, lowest)
    safe = np.where(falls, slope, -1.0)
    boundary = np.where(falls, -intercept / safe, beyond)
    fall = np.where(falls, FALL / -safe, math.inf).clip(max=2 * reach)
    return {
        "boundary": boundary.clip(lowest, highest),
        "fall": fall,
        "relative_fall": fall / reach,
        "slope": slope,
    }


def _depth_effect(part: Slice, weights: Array, guess: Array) -> Array:
    """Accuracy at the least depth less that at the greatest, over lengths that have both."""
    shallow, deep = part.depths == part.depths.min(), part.depths == part.depths.max()
    shared = np.intersect1d(part.lengths[shallow], part.lengths[deep])
    if part.depths.min() == part.depths.max() or not len(shared):
        return np.full(len(weights), np.nan)
    group = np.searchsorted(shared, part.lengths).clip(max=len(shared) - 1)
    inside = np.isin(part.lengths, shared)

    def accuracy(chosen: Array) -> Array:
        right = group_sums(weights * chosen * (part.right - guess), group, len(shared))
        return ratio(right, group_sums(weights * chosen * (1.0 - guess), group, len(shared)))

    difference = accuracy((shallow & inside).astype(float)) - accuracy(
        (deep & inside).astype(float)
    )
    return np.asarray(difference.mean(axis=1))


def _points(part: Slice, guess: Array, confidence: float) -> pl.DataFrame:
    rows = list(_rows(part, guess, confidence))
    return pl.DataFrame(rows, schema=POINTS, orient="row")


def _rows(part: Slice, guess: Array, confidence: float) -> Iterator[tuple[Any, ...]]:
    for length in np.unique(part.lengths):
        of_length = part.lengths == length
        for depth in (None, *np.unique(part.depths[of_length])):
            chosen = of_length if depth is None else of_length & (part.depths == depth)
            answered = chosen & (part.truncated == 0)
            yield (
                int(length),
                None if depth is None else int(depth),
                int(chosen.sum()),
                int(part.right[chosen].sum()),
                int(part.truncated[chosen].sum()),
                *_share(part.right[chosen], guess[chosen], confidence),
                *_share(part.right[answered], guess[answered], confidence),
            )


def _share(right: Array, guess: Array, confidence: float) -> tuple[float | None, ...]:
    """Accuracy beyond guessing and Wilson's interval of the counts so adjusted."""
    trials = float((1.0 - guess).sum())
    if trials <= 0:
        return None, None, None
    share = max(float((right - guess).sum()), 0.0) / trials
    return (share, *wilson(share, trials, confidence))
