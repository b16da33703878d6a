"""Step series of different lengths as one array, by one rule for all signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Labels

Cube = npt.NDArray[np.float64]
"""Of shape ``[n_runs, n_channels, n_steps]``."""

MIN_STEPS = 9
"""Minimum number of steps of the array: the length of MiniRocket's kernels."""

RESOLUTION = 2.0**-10
"""Every number is a multiple of this: a thousandth of a standard deviation."""

MAX_DEVIATION = 100.0
"""Maximum distance of a number from the mean, in standard deviations.

MiniRocket adds, in single precision, up to nine channels with weights whose sizes sum to 18. With
this bound all such sums are multiples of ``RESOLUTION`` below 2 to the 14th, which single precision
holds exactly. So there is no rounding, in whatever order a processor sums; a bias, which is itself
such a sum of a training run, is exceeded on all processors or on none.
"""


class AlignedSeries(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Stack the series of each run so that all of them end at the failure.

    The array is as long as the longest series of the training runs: a shorter one is preceded by
    steps that were not logged, and of a longer one the last steps are taken. Everything is
    learned from the training runs, and every signal is treated alike:

    * A number outside the range of the finite numbers of the training runs is clipped to that
      range, infinite numbers included.
    * Numbers are compressed to sign(x) log(1 + abs(x)), as the measurements span up to
      thirty powers of ten, and standardised over all steps of all runs.
    * The result is rounded to multiples of ``RESOLUTION`` and is at most ``MAX_DEVIATION`` in size.
    * What was not logged (NaN) repeats the last number that was, and is 0, the mean, before the
      first.

    The last channel is the share of signals that a step logged: 0 where there was no step. It
    distinguishes logged numbers from filled ones.
    """

    def __init__(self, signals: Sequence[str]) -> None:
        self.signals = signals

    def fit(self, X: pd.DataFrame, y: Labels | None = None) -> Self:  # noqa: ARG002
        """Learn length, ranges, means and standard deviations."""
        self.length_ = max(MIN_STEPS, *(len(series) for series in X[self.signals[0]]))
        cube = self._stacked(X)
        finite = np.isfinite(cube)
        observed = finite.any(axis=(0, 2))
        # A signal that no training run logged has no range: its values count as 0.
        self.low_ = np.where(observed, np.where(finite, cube, np.inf).min(axis=(0, 2)), 0.0)
        self.high_ = np.where(observed, np.where(finite, cube, -np.inf).max(axis=(0, 2)), 0.0)
        steps = np.moveaxis(self._compressed(cube), 1, 2).reshape(-1, len(self.signals))
        # Zeros stand for a signal without a number, as the mean of nothing would be NaN.
        self.scaler_ = StandardScaler().fit(np.where(observed, steps, 0.0))
        return self

    def transform(self, X: pd.DataFrame) -> Cube:
        """Series of shape ``[n_runs, n_signals + 1, length_]``, all multiples of ``RESOLUTION``."""
        check_is_fitted(self)
        cube = self._stacked(X)
        logged = ~np.isnan(cube)
        values = self._compressed(cube)
        scaled = (values - self.scaler_.mean_[:, None]) / self.scaler_.scale_[:, None]
        latest = np.maximum.accumulate(np.where(logged, np.arange(self.length_), 0), axis=2)
        repeated = np.take_along_axis(scaled, latest, axis=2)
        share = logged.mean(axis=1, keepdims=True)
        series = np.concatenate([np.nan_to_num(repeated), share], axis=1)
        rounded: Cube = (
            np.rint(np.clip(series, -MAX_DEVIATION, MAX_DEVIATION) / RESOLUTION) * RESOLUTION
        )
        return rounded

    def _stacked(self, X: pd.DataFrame) -> Cube:
        """The last steps of each series at the end, NaN before them."""
        cube = np.full((len(X), len(self.signals), self.length_), np.nan)
        for channel, signal in enumerate(self.signals):
            for run, series in enumerate(X[signal]):
                last = series[-self.length_ :]
                cube[run, channel, self.length_ - len(last) :] = last
        return cube

    def _compressed(self, cube: Cube) -> Cube:
        bounded = np.clip(cube, self.low_[:, None], self.high_[:, None])
        compressed: Cube = np.sign(bounded) * np.log1p(np.abs(bounded))
        return compressed
