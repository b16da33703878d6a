"""Healthy runs: the band that their features lie in, and features read on the scale of others."""

# A threshold for one optimizer is carried to another by moving the features: as many standard
# deviations from the healthy mean here become as many there, so methods stay as they are. Where no
# healthy run of a kind is known, changes since the run's early history are compared, of signals
# whose scale the optimizer sets (gradient norms above all) as ratios.

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.features.catalogue import PAPER_FEATURES
from failbench.features.feature_table import to_frame


class Band(Protocol):
    """Thresholds around healthy runs, as rules use them."""

    def upper(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely exceeds."""
        ...

    def lower(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely falls below."""
        ...


@dataclass(frozen=True)
class HealthyBand:
    """Mean and sample standard deviation over successful runs: the paper's equation 2."""

    mean: dict[str, float]
    sd: dict[str, float]

    def upper(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely exceeds."""
        return self.mean[feature] + sds * self.sd[feature]

    def lower(self, feature: str, sds: float) -> float:
        """The threshold that a healthy run rarely falls below."""
        return self.mean[feature] - sds * self.sd[feature]


@dataclass(frozen=True)
class PercentileBand:
    """Quantiles over successful runs (section 8.9.5), however many deviations a rule asks."""

    low: dict[str, float]
    high: dict[str, float]

    def upper(self, feature: str, sds: float) -> float:  # noqa: ARG002 - protocol
        """The high quantile."""
        return self.high[feature]

    def lower(self, feature: str, sds: float) -> float:  # noqa: ARG002 - protocol
        """The low quantile."""
        return self.low[feature]


def healthy_band(successes: pd.DataFrame, features: Iterable[str]) -> HealthyBand:
    """Measure the band over the features of successful runs; missing values are ignored."""
    columns = _measured(successes, features)
    return HealthyBand(columns.mean().to_dict(), columns.std(ddof=1).to_dict())


def percentile_band(
    successes: pd.DataFrame, features: Iterable[str], share: float
) -> PercentileBand:
    """The quantiles ``share`` and ``1 - share``, by definition 7 of Hyndman and Fan (1996)."""
    columns = _measured(successes, features)
    return PercentileBand(columns.quantile(1 - share).to_dict(), columns.quantile(share).to_dict())


def _measured(successes: pd.DataFrame, features: Iterable[str]) -> pd.DataFrame:
    columns = successes[list(features)]
    for name, count in columns.count().items():
        if count < 2:
            raise BadInputError(
                "successful runs",
                str(name),
                f"only {count} of {len(columns)} runs have it.",
                "Record the successful runs of this architecture and optimizer first.",
            )
    return columns


RATIOS = (
    "learning_rate_at_failure",
    "gradient_norm_variance",
    "max_gradient_norm",
    "mean_gradient_norm",
    "perplexity",
)
"""Positive, and set by the optimizer up to a factor."""

MOVED = tuple(
    feature.name
    for feature in PAPER_FEATURES
    if feature.group != "configuration"
    and feature.name not in ("steps_before_failure", "memory_warning")
)
"""Features that are moved. Counts of steps, warnings and settings mean the same everywhere."""


def band_of(successes: pl.DataFrame) -> HealthyBand:
    """Where the moved features of successful runs lie."""
    return healthy_band(to_frame(successes), MOVED)


def changes(table: pl.DataFrame, early: pl.DataFrame) -> pl.DataFrame:
    """How each moved feature changed since the run's early history."""
    history = early.select("run_id", *(pl.col(name).alias(f"early_{name}") for name in MOVED))
    joined = table.join(history, on="run_id", how="left", maintain_order="left")
    return joined.with_columns(_change(name).alias(name) for name in MOVED).select(table.columns)


def _change(name: str) -> pl.Expr:
    now, then = pl.col(name), pl.col(f"early_{name}")
    if name not in RATIOS:
        return now - then
    return pl.when((now > 0) & (then > 0)).then((now / then).log())


def recalibrated(
    table: pl.DataFrame,
    healthy: HealthyBand,
    reference: HealthyBand,
    early: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Move features, or their changes since early history, to the reference's healthy band."""
    read = table if early is None else changes(table, early)
    columns = []
    for name in MOVED:
        values = _values(table, name)
        if healthy.sd[name] > 0:
            deviations = (_values(read, name) - healthy.mean[name]) / healthy.sd[name]
            placed = reference.mean[name] + reference.sd[name] * deviations
            values = np.where(np.isfinite(placed), placed, values)
        columns.append(pl.Series(name, values).fill_nan(None))
    return table.with_columns(columns)


def _values(table: pl.DataFrame, name: str) -> Array:
    return table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
