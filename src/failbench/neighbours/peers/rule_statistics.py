"""Rule statistics: what documented rules make of a signal before they hold it to a threshold.

Each is a function of the values of a signal so far, one number for each value; NaN where there are
too few values, which is beyond no threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from failbench.base.arrays import Array

RuleStatistic = Callable[[Array, int, float], Array]
"""From values ``[n_values]``, a window (in values) and a margin to a number for each value."""


def value(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The value itself."""
    return values


def positive(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The value itself, if it is above zero."""
    return np.where(values > 0, values, np.nan)


def not_finite(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """1 where the value is NaN or infinite."""
    return (~np.isfinite(values)).astype(np.float64)


def is_nan(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """1 where the value is NaN; an infinite one is not."""
    return np.isnan(values).astype(np.float64)


def not_finite_so_far(values: Array, window: int, margin: float) -> Array:
    """1 from the first value on that is NaN or infinite."""
    return np.maximum.accumulate(not_finite(values, window, margin))


def largest_so_far(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The largest value so far that is a number."""
    return np.fmax.accumulate(values)


def smallest_so_far(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The smallest value so far that is a number."""
    return np.fmin.accumulate(values)


def share_zero(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """Share of zeros among the values so far; told of zeros alone."""
    share = np.cumsum(values == 0) / np.arange(1, values.size + 1)
    return np.where(values == 0, share, np.nan)


def value_range(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The largest less the smallest of the last values."""
    return _of_last(values, window, lambda last: np.ptp(last, axis=1))


def relative_range(values: Array, window: int, margin: float) -> Array:
    """The range of the last values beyond a margin, as a share of the smallest of them."""

    def share(last: Array) -> Array:
        shares: Array = (np.ptp(last, axis=1) - margin) / np.abs(last).min(axis=1)
        return shares

    return _of_last(values, window, share)


def over_mean(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The value over the mean of the values before it, of which there must be a whole window."""
    return values / _shifted(_of_last(values, window, lambda last: last.mean(axis=1)))


def over_all_before(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The value over the mean of all values before it."""
    return values / _shifted(np.cumsum(values) / np.arange(1, values.size + 1))


def jump(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """Distance of a value above the one before from the mean before it, as a share of that mean.

    The mean is over a window, or over as many values as there are.
    """
    means = np.array([values[max(at - window, 0) : at].mean() for at in range(1, values.size)])
    distance = np.abs(values[1:] - means) / np.abs(means)
    rises = np.where(values[1:] > values[:-1], distance, np.nan)
    return np.append(np.nan, rises)


def share_above_first(values: Array, window: int, margin: float) -> Array:
    """Share of the window before a value above what the first window's largest value was.

    No more than the margin counts as the largest. Nothing is said before the second window ends.
    """
    if values.size < 2 * window:
        return np.full(values.size, np.nan)
    cap = min(float(values[:window].max()), margin)
    above = (values > cap).astype(np.float64)
    shares = _shifted(_of_last(above, window, lambda last: last.mean(axis=1)))
    shares[: 2 * window - 1] = np.nan
    return shares


def looks_since_best(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """Values since the last one that was lower than all before it by more than a margin."""
    since = np.zeros(values.size)
    best, count = np.inf, 0
    for at, each in enumerate(values):
        if each < best - margin:
            best, count = float(each), 0
        elif at:
            count += 1
        since[at] = count
    return since


def increase_percent(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """How far the value is above the one a window before, in percent of that."""
    return _change_percent(values, window)


def decrease_percent(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """How far the value is below the one a window before, in percent of that, if it is."""
    fall = -_change_percent(values, window)
    return np.where(fall >= 0, fall, np.nan)


def step_ratio(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """The larger over the smaller of a value and the one before, if both are above zero."""
    before = _shifted(values)
    ratio = np.maximum(values / before, before / values)
    return np.where((values > 0) & (before > 0), ratio, np.nan)


def outliers(values: Array, window: int, margin: float) -> Array:  # noqa: ARG001
    """How many of the values so far are further from their mean than a number of deviations."""
    so_far = np.tri(values.size, dtype=bool)
    sizes = np.arange(1, values.size + 1)
    means = np.cumsum(values) / sizes
    deviations = np.sqrt(np.fmax(np.cumsum(values**2) / sizes - means**2, 0.0))
    outside = np.abs(values[None, :] - means[:, None]) > (margin * deviations)[:, None]
    counts: Array = (outside & so_far).sum(axis=1).astype(np.float64)
    return counts


RULE_STATISTICS: Final[dict[str, RuleStatistic]] = {
    "value": value,
    "positive": positive,
    "not_finite": not_finite,
    "is_nan": is_nan,
    "not_finite_so_far": not_finite_so_far,
    "largest_so_far": largest_so_far,
    "smallest_so_far": smallest_so_far,
    "share_zero": share_zero,
    "range": value_range,
    "relative_range": relative_range,
    "over_mean": over_mean,
    "over_all_before": over_all_before,
    "jump": jump,
    "share_above_first": share_above_first,
    "looks_since_best": looks_since_best,
    "increase_percent": increase_percent,
    "decrease_percent": decrease_percent,
    "step_ratio": step_ratio,
    "outliers": outliers,
}


def _of_last(values: Array, window: int, of: Callable[[Array], Array]) -> Array:
    """A figure of the last values; NaN before there is a whole window."""
    if values.size < window:
        return np.full(values.size, np.nan)
    figures = of(np.lib.stride_tricks.sliding_window_view(values, window))
    return np.concatenate([np.full(window - 1, np.nan), figures])


def _shifted(values: Array) -> Array:
    """Each value's predecessor."""
    return np.append(np.nan, values[:-1])


def _change_percent(values: Array, window: int) -> Array:
    changes = 100 * (values[window:] - values[:-window]) / values[:-window]
    return np.concatenate([np.full(min(window, values.size), np.nan), changes])
