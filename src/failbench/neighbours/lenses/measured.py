"""What a lens measured of a slice, and the numbers with intervals that follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.neighbours.lenses.catalogue import Lens, MeasureKind, measure_kinds
from failbench.neighbours.lenses.resampling import ResamplingSettings, percentile_interval
from failbench.statistics.intervals import wilson

SAME: Final = 9
"""Decimals of a number: what differs by less differs by rounding."""


@dataclass(frozen=True)
class Measured:
    """What a lens measured, before intervals."""

    draws: Mapping[str, Array]
    sizes: Mapping[str, float]
    points: Callable[[], pl.DataFrame]


@dataclass(frozen=True)
class Measure:
    """A number with its interval."""

    kind: MeasureKind
    value: float
    ci_low: float
    ci_high: float
    n: int
    draws: Array = field(repr=False, compare=False)

    @property
    def defined(self) -> bool:
        """Whether it has a value."""
        return math.isfinite(self.value)


def measures_of(lens: Lens, measured: Measured, settings: ResamplingSettings) -> dict[str, Measure]:
    """The numbers of a lens with their intervals, in the order of the catalogue."""
    return {
        # a zero has no sign: what rounding leaves of one differs between processors
        name: _measure(kind, measured.draws[name].round(SAME) + 0.0, measured.sizes[name], settings)
        for name, kind in measure_kinds()[lens].items()
    }


def _measure(kind: MeasureKind, draws: Array, size: float, settings: ResamplingSettings) -> Measure:
    value = float(draws[0])
    if not math.isfinite(value):
        return Measure(kind, math.nan, math.nan, math.nan, round(size), draws)
    if kind.interval == "wilson":
        low, high = wilson(value, size, settings.confidence)
    elif kind.interval == "fixed":
        low, high = value, value
    else:
        low, high = percentile_interval(np.asarray(draws), settings.confidence)
    return Measure(kind, value, low, high, round(size), draws)
