"""Statistics of curves that the documented rules of a skill hold against thresholds.

Each returns None where the curve is too short for it. Only finite values count, except where values
that are no numbers are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.signal import savgol_filter

from failbench.base.arrays import Array
from failbench.neighbours.peers.curves import Curves


@dataclass(frozen=True)
class Measured:
    """What a statistic is of."""

    signal: str
    window: int = 0
    margin: float = 0.0


Statistic = Callable[[Curves, Measured], float | None]

POLYNOMIAL: Final = 3
"""Order of the filter that noise is measured against; the documentation has it with window 11."""


def not_finite(curves: Curves, of: Measured) -> float | None:
    """How many values are NaN or infinite."""
    values = _logged(curves, of)
    return float(np.count_nonzero(~np.isfinite(values))) if values.size else None


def largest(curves: Curves, of: Measured) -> float | None:
    """The largest value."""
    values = _finite(curves, of)
    return float(values.max()) if values.size else None


def smallest(curves: Curves, of: Measured) -> float | None:
    """The smallest value."""
    values = _finite(curves, of)
    return float(values.min()) if values.size else None


def rise_over_rolling(curves: Curves, of: Measured) -> float | None:
    """The largest deviation of a value that lies a margin above what was usual before.

    What was usual are the mean and the standard deviation of a centred window, one window before
    the value; the deviation is in these standard deviations, and 0 if no value lies so far above.
    """
    values = _finite(curves, of)
    behind = of.window + of.window // 2
    if values.size <= behind:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(values, of.window)[: values.size - behind]
    mean, deviation = windows.mean(axis=1), windows.std(axis=1, ddof=1)
    later = values[behind:]
    rises = (later > mean + of.margin * np.abs(mean)) & (deviation > 0)
    if not rises.any():
        return 0.0
    return float(((later - mean)[rises] / deviation[rises]).max())


def last_over_first_third(curves: Curves, of: Measured) -> float | None:
    """Mean of the last third over that of the first."""
    thirds = _thirds(curves, of)
    return None if thirds is None else thirds[1] / thirds[0]


def change_of_thirds(curves: Curves, of: Measured) -> float | None:
    """How far the mean of the last third is from that of the first, as a share of it."""
    thirds = _thirds(curves, of)
    return None if thirds is None else abs(thirds[1] - thirds[0]) / abs(thirds[0])


def variance_of_last(curves: Curves, of: Measured) -> float | None:
    """Variance of the last values."""
    values = _finite(curves, of)
    return float(values[-of.window :].var()) if values.size >= of.window else None


def longest_flat(curves: Curves, of: Measured) -> float | None:
    """Most values in a row whose slope is below the slope that a share of all values lie below."""
    values = _finite(curves, of)
    if values.size < 2:
        return None
    slopes = np.abs(np.gradient(values))
    longest = current = 0
    for flat in slopes < np.quantile(slopes, of.margin):
        current = current + 1 if flat else 0
        longest = max(longest, current)
    return float(longest)


def gap(curves: Curves, of: Measured) -> float | None:
    """Mean distance of training from validation in the last validations, as a share of the latter.

    Its sign does not count, as in the documentation: a validation far below training is a gap too.
    """
    validation, training = curves.validation[-of.window :], curves.training[-of.window :]
    known = np.isfinite(validation) & np.isfinite(training) & (validation != 0)
    if np.count_nonzero(known) < of.window:
        return None
    return float((np.abs(training - validation)[known] / np.abs(validation[known])).mean())


def noise(curves: Curves, of: Measured) -> float | None:
    """Standard deviation of what a Savitzky-Golay filter takes away, as a share of the mean."""
    values = _finite(curves, of)
    if values.size < of.window or values.mean() == 0:
        return None
    residual = values - savgol_filter(values, of.window, POLYNOMIAL)
    return float(residual.std() / abs(values.mean()))


STATISTICS: Final[dict[str, Statistic]] = {
    statistic.__name__: statistic
    for statistic in (
        not_finite,
        largest,
        smallest,
        rise_over_rolling,
        last_over_first_third,
        change_of_thirds,
        variance_of_last,
        longest_flat,
        gap,
        noise,
    )
}


def _logged(curves: Curves, of: Measured) -> Array:
    values: Array = getattr(curves, of.signal)
    return values


def _finite(curves: Curves, of: Measured) -> Array:
    values = _logged(curves, of)
    finite: Array = values[np.isfinite(values)]
    return finite


def _thirds(curves: Curves, of: Measured) -> tuple[float, float] | None:
    """Means of the first and of the last third."""
    values = _finite(curves, of)
    third = values.size // 3
    if third == 0:
        return None
    first, last = float(values[:third].mean()), float(values[-third:].mean())
    return None if first == 0 else (first, last)
