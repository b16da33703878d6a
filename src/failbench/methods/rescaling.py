"""Rescaling: features read on the scale of other healthy runs, so that thresholds can stay.

A threshold for one optimizer is carried to another by moving the features, not the threshold: as
many standard deviations from the healthy mean here become as many there. All thresholds on a
feature move alike, fixed limits with them, and methods stay as they are, classifiers included.

Where no healthy run of the new kind is known, the run's early history takes its place: what is
held against healthy runs is how a feature changed since then, not what it is. Signals whose scale
the optimizer sets, gradient norms above all, are compared as ratios, all others as differences.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.features.catalogue import PAPER_FEATURES
from failbench.features.feature_table import to_frame
from failbench.methods.healthy_band import HealthyBand, healthy_band

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
    """Move features from the healthy band of their kind of runs to that of the reference.

    With early histories, how features changed stands where they themselves would; a run that has
    none keeps its features.
    """
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
