"""Trend: the slope of a series that single values do not move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import theilslopes

MOST: Final = 2000
"""Points of which all pairs are compared, evenly spaced: two million pairs."""

CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Trend:
    """The median of the slopes between all pairs of points (Theil and Sen)."""

    slope: float
    low: float
    high: float


def slope_of(places: NDArray[np.float64], values: NDArray[np.float64]) -> Trend | None:
    """The trend of finite values, both of shape (values,); None where all stand at one place."""
    if len(values) > MOST:
        kept = np.linspace(0, len(values) - 1, MOST).astype(int)
        places, values = places[kept], values[kept]
    if len(values) < 2 or places.min() == places.max():
        return None
    result = theilslopes(values, places, CONFIDENCE)
    return Trend(float(result.slope), float(result.low_slope), float(result.high_slope))
