"""Healthy runs: their band, features on the scale of others, and how far others stray from them."""

# A threshold for one optimizer is carried to another by moving the features: as many standard
# deviations from the healthy mean here become as many there, so methods stay as they are. Where no
# healthy run of a kind is known, changes since the run's early history are compared, of signals
# whose scale the optimizer sets (gradient norms above all) as ratios.

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.features.catalogue import PAPER_FEATURES
from failbench.features.feature_table import split_snapshot_ids, to_frame


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
            problem = f"only {count} of {len(columns)} runs have it."
            remedy = "Record the successful runs of this architecture and optimizer first."
            raise BadInputError("successful runs", str(name), problem, remedy)
    return columns


RATIOS = (  # positive, and set by the optimizer up to a factor
    "learning_rate_at_failure",
    "gradient_norm_variance",
    "max_gradient_norm",
    "mean_gradient_norm",
    "perplexity",
)

MOVED = tuple(  # counts of steps, warnings and settings mean the same everywhere
    feature.name
    for feature in PAPER_FEATURES
    if feature.group != "configuration"
    and feature.name not in ("steps_before_failure", "memory_warning")
)


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


# Each signal is held against its mean among successful runs cut at the same step. How far it
# strays, in standard deviations, is divided by how far any successful run ever strayed, so that
# signals with heavy tails do not drown the others; the score is the largest of these.


@dataclass(frozen=True)
class HealthyCourse:
    """Where the signals of successful runs lie, step by step."""

    signals: tuple[str, ...]
    steps: tuple[int, ...]
    mean: Array
    sd: Array
    reach: Array

    def scores(self, snapshots: pl.DataFrame) -> pl.DataFrame:
        """Each snapshot's score, of which one is the furthest that any successful run strayed."""
        cut = split_snapshot_ids(snapshots)
        strayed = _strayed(cut, self.signals, self.steps, self.mean, self.sd)
        known = np.divide(strayed, self.reach, out=np.zeros_like(strayed), where=self.reach > 0)
        return cut.select("step", run_id="run", score=pl.Series(known.max(axis=1))).select(
            "run_id", "step", "score"
        )


def healthy_course(successes: pl.DataFrame, signals: tuple[str, ...]) -> HealthyCourse:
    """Measure the course of successful runs."""
    cut = split_snapshot_ids(successes)
    runs = cut["run"].n_unique()
    # [n_steps]: what every second run reached is still a course of many
    table = (
        cut.group_by("step")
        .agg(
            pl.len().alias("runs"),
            *(pl.col(name).mean().alias(f"mean_{name}") for name in signals),
            *(pl.col(name).std().alias(f"sd_{name}") for name in signals),
        )
        .filter(pl.col("runs") * 2 >= runs)
        .sort("step")
    )
    mean, sd = (
        table.select(f"{part}_{name}" for name in signals).to_numpy().astype(np.float64)
        for part in ("mean", "sd")
    )
    steps, spread = tuple(table["step"].to_list()), np.nan_to_num(sd)
    reach = _strayed(cut, signals, steps, mean, spread).max(axis=0)
    return HealthyCourse(signals, steps, mean, spread, reach)


def _strayed(
    cut: pl.DataFrame, signals: tuple[str, ...], steps: tuple[int, ...], mean: Array, sd: Array
) -> Array:
    """Distances from the mean in standard deviations, ``[n_rows, n_signals]``; 0 where unknown."""
    at = np.searchsorted(steps, cut["step"].to_numpy(), side="right") - 1
    begun = at >= 0
    at = np.maximum(at, 0)
    distance = np.abs(cut.select(signals).to_numpy().astype(np.float64) - mean[at])
    usable = np.isfinite(distance) & (sd[at] > 0) & begun[:, None]
    strayed: Array = np.divide(distance, sd[at], out=np.zeros_like(distance), where=usable)
    return strayed
