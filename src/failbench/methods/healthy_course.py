"""Healthy course: how far runs stray from successful ones, by a chart of Shewhart (1931)."""

# Each signal is held against its mean among successful runs cut at the same step. How far it
# strays, in standard deviations, is divided by how far any successful run ever strayed, so that
# signals with heavy tails do not drown the others; the score is the largest of these.

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.features.feature_table import split_snapshot_ids


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
