"""Compared: a series as it is held against the bound of a check."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.diagnose.checks import Against

WINDOW: Final = 8
"""Values that make the start of a run, or the past of a value: as many as the monitor's."""

FEWEST: Final = 3
"""Values of which a past, a start or a trend is made at least."""

SMOOTH: Final = 5
"""Values in a median that takes single outliers away."""

FROM_SCRATCH: Final = 4.0
"""Nats at which a training from scratch starts at least: a language model that has learnt anything
lies below, and a uniform guess among 1,000 tokens at 6.9."""

LONG: Final = 50
"""Values without which a loss that does not fall says nothing: a resumed training falls slowly."""

FADED: Final = 0.01
"""Of its peak: a learning rate below moves weights no more. A cosine is below it for the last 6 %
of its steps, a linear decay for the last one."""

DIGITS: Final = 20.0
"""Ratio of the largest value to the smallest that is not 0, below which a 0 beside them may be a
value that was rounded: of 0.006 to 0.001 with three digits behind the point."""

SMALLEST: Final = 1e-30


@dataclass(frozen=True)
class Compared:
    """A series held against something."""

    amounts: Array
    references: Array
    is_ratio: bool

    def limit(self, place: int, bound: float) -> float:
        """A bound in the signal's own unit at one place; no number where it has none."""
        reference = self.references[place]
        return float(reference * np.exp(bound) if self.is_ratio else reference + bound)


def compared(values: Array, against: Against) -> Compared:
    """Hold a series against its past, its start, its best or nothing.

    Values that are no finite numbers are passed over by all but ``not_finite``.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # medians of nothing are no number
        return _COMPARISONS[against](values)


def _nothing(values: Array) -> Array:
    return np.full(len(values), np.nan)


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)


def _log(values: Array) -> Array:
    finite = _finite(values)
    return np.where(finite > 0, np.log(np.abs(finite) + SMALLEST), np.nan)


def _rolling_median(values: Array, size: int, shift: int) -> Array:
    """Median of so many values up to each, or up to some before it, of shape (n,)."""
    series = pl.Series(_finite(values), nan_to_null=True).shift(shift)
    medians = series.rolling_median(size, min_samples=FEWEST)
    return medians.to_numpy().astype(np.float64)


def _pasts(values: Array) -> Array:
    return _rolling_median(values, WINDOW, 1)


def _smoothed(values: Array) -> Array:
    return _rolling_median(values, SMOOTH, 0)


def _start(values: Array) -> tuple[float, int]:
    """Median of the start, and where it ends: eight values, or a third of a short series."""
    size = min(WINDOW, len(values) // 3)
    if size < 1 or len(values) < FEWEST:
        return np.nan, len(values)
    return float(np.nanmedian(_finite(values)[:size])), size


def _value(values: Array) -> Compared:
    return Compared(_finite(values), np.zeros(len(values)), is_ratio=False)


def _log_value(values: Array) -> Compared:
    return Compared(_log(values), np.ones(len(values)), is_ratio=True)


def _log_peak(values: Array) -> Compared:
    amounts = _nothing(values)
    sizes = _log(values)
    if len(values) >= WINDOW and np.isfinite(sizes).any():
        amounts[-1] = np.nanmax(sizes)
    return Compared(amounts, np.ones(len(values)), is_ratio=True)


def _not_finite(values: Array) -> Compared:
    return Compared((~np.isfinite(values)).astype(float), _nothing(values), is_ratio=False)


def _zero(values: Array) -> Compared:
    return Compared((values == 0).astype(float), np.zeros(len(values)), is_ratio=False)


def _unrounded(values: Array) -> Array:
    """Values of which zeros are no number where they may have been printed with too few digits."""
    positive = values[np.isfinite(values) & (values > 0)]
    is_coarse = len(positive) > 0 and positive.max() < DIGITS * positive.min()
    return np.where((values == 0) & is_coarse, np.nan, values)


def _zero_inside(values: Array) -> Compared:
    values = _unrounded(values)
    after = np.maximum.accumulate(np.abs(_finite(values)) > 0) if len(values) else values > 0
    return Compared(((values == 0) & after).astype(float), np.zeros(len(values)), is_ratio=False)


def _past_difference(values: Array) -> Compared:
    pasts = _pasts(values)
    return Compared(_finite(values) - pasts, pasts, is_ratio=False)


def _ratio(values: Array, references: Array) -> Compared:
    return Compared(_log(values) - _log(references), references, is_ratio=True)


def _past_ratio(values: Array) -> Compared:
    return _ratio(values, _pasts(values))


def _start_ratio(values: Array) -> Compared:
    start, size = _start(values)
    references = np.full(len(values), start)
    references[:size] = np.nan
    return _ratio(values, references)


def _new_peak(values: Array) -> Compared:
    """Each value beside the largest before it, where that one is a window old or older."""
    finite = _finite(values)
    peaks = np.fmax.accumulate(finite) if len(values) else finite
    before = np.concatenate([np.full(min(1, len(values)), np.nan), peaks[:-1]])
    places = np.arange(len(values))
    risen = np.flatnonzero(np.diff(peaks, prepend=np.nan) != 0)
    last = np.maximum.accumulate(np.isin(places, risen) * places) if len(values) else places
    age = places - np.concatenate([np.zeros(min(1, len(values)), int), last[:-1]])
    return _ratio(values, np.where(age > WINDOW, before, np.nan))


def _faded_share(values: Array) -> Compared:
    """Share of the values so far, from the peak on, that are below a hundredth of it."""
    finite = _finite(_unrounded(values))
    peaks = np.fmax.accumulate(finite) if len(values) else finite
    is_faded = finite < FADED * peaks
    amounts = np.cumsum(is_faded) / np.arange(1, len(values) + 1)
    return Compared(np.where(is_faded, amounts, np.nan), FADED * peaks, is_ratio=False)


def _since_best(values: Array) -> Compared:
    amounts, finite = _nothing(values), _finite(values)
    if len(values) >= WINDOW and np.isfinite(finite).any():
        later = finite[int(np.nanargmin(finite)) :]
        later = later[np.isfinite(later)]
        if len(later) > SMOOTH:
            amounts[-1] = _correlation(later)
    best = np.fmin.accumulate(finite) if len(values) else finite
    return Compared(amounts, best, is_ratio=False)


def _best_difference(values: Array) -> Compared:
    smooth = _smoothed(values)
    best = np.fmin.accumulate(smooth) if len(values) else smooth
    return Compared(smooth - best, best, is_ratio=False)


def _progress(values: Array) -> Compared:
    start, _ = _start(values)
    if not start >= FROM_SCRATCH:
        return Compared(_nothing(values), _nothing(values), is_ratio=False)
    return _fall(values, WINDOW)


def _any_progress(values: Array) -> Compared:
    return _fall(values, LONG)


def _fall(values: Array, fewest: int) -> Compared:
    """Share of the start by which the lowest smoothed value lies below it."""
    amounts = _nothing(values)
    start, size = _start(values)
    smooth = _smoothed(values)[size:]
    if len(values) >= fewest and np.isfinite(smooth).any():
        amounts[-1] = (start - np.nanmin(smooth)) / max(abs(start), SMALLEST)
    return Compared(amounts, np.full(len(values), start), is_ratio=False)


def _climb(values: Array) -> Compared:
    amounts = _nothing(values)
    finite = _finite(values)
    known = finite[np.isfinite(finite)]
    if len(known) >= WINDOW:
        amounts[-1] = _correlation(known)
    return Compared(amounts, np.zeros(len(values)), is_ratio=False)


def _correlation(values: Array) -> float:
    """Kendall's correlation of values with their order, of evenly spaced ones if there are many."""
    taken = values[np.linspace(0, len(values) - 1, min(len(values), _MOST)).astype(int)]
    earlier, later = np.triu_indices(len(taken), 1)
    return float(np.sign(taken[later] - taken[earlier]).mean())


_MOST: Final = 200
"""Values that a trend is computed of, evenly spaced: it compares all pairs."""

_COMPARISONS: Final[dict[Against, Callable[[Array], Compared]]] = {
    "value": _value,
    "log_value": _log_value,
    "log_peak": _log_peak,
    "not_finite": _not_finite,
    "zero": _zero,
    "zero_inside": _zero_inside,
    "past_difference": _past_difference,
    "past_ratio": _past_ratio,
    "start_ratio": _start_ratio,
    "new_peak": _new_peak,
    "faded_share": _faded_share,
    "since_best": _since_best,
    "best_difference": _best_difference,
    "progress": _progress,
    "any_progress": _any_progress,
    "climb": _climb,
}
