"""Course: how far each step of a run lies from successful runs of the same setting.

A Shewhart chart (Shewhart, 1931, "Economic control of quality of manufactured product") of four
signals that every training can log. At each step a signal is held against its mean among the
successful runs at the same step; the distance is in their standard deviations, to either side.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.telemetry import Telemetry

HEAD_STEPS: Final = 20
"""The first steps of a run, whose median its step times are measured in."""

SIGNALS: Final = {
    "loss": pl.col("loss").cast(pl.Float64),
    "gradient_norm": pl.col("gradient_norm").cast(pl.Float64).log10(),
    "memory": pl.col("memory_bytes") / pl.col("capacity_bytes"),
    "step_seconds": (pl.col("step_seconds") / pl.col("head_seconds")).cast(pl.Float64).log10(),
}
"""Training loss in nats, decimal logarithm of the gradient norm before clipping, memory as a share
of the capacity, and decimal logarithm of the time of a step: norms and times are spread over orders
of magnitude. Each over the columns of steps, ``capacity_bytes`` and ``head_seconds``.

Times are relative to the run's own first steps, as in the detector: absolute ones tell when a run
was recorded, and by them nearly all healthy twins of one setting would stray from its successful
runs. That was seen on healthy runs, before a failing one was looked at."""

FEWEST_RUNS: Final = 10
"""Successful runs that a mean and a standard deviation are taken of, at least."""


def step_distances(telemetry: Telemetry) -> pl.DataFrame:
    """Distances of all steps of all runs of one setting from its successful runs."""
    successes = telemetry.runs.filter(pl.col("kind") == "success")
    if successes.height < FEWEST_RUNS:
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "kind",
            f"a setting has {successes.height} successful runs; a healthy course takes "
            f"{FEWEST_RUNS}.",
            "Raise its successes in record.settings of params.yaml, and run `failbench record`.",
        )
    head = pl.col("step_seconds").filter(pl.col("step") < HEAD_STEPS).median().over("run_id")
    values = (
        telemetry.steps.with_columns(head_seconds=head)
        .join(telemetry.runs.select("run_id", "capacity_bytes"), on="run_id")
        .select("run_id", "step", **SIGNALS)
    )
    course = _course(values.join(successes.select("run_id"), on="run_id", how="semi"))
    last = course["step"].max()
    held = values.with_columns(at=pl.col("step").clip(upper_bound=pl.lit(last)))
    return (
        held.join(course, left_on="at", right_on="step", how="left")
        .select("run_id", "step", **{signal: _distance(signal) for signal in SIGNALS})
        .sort("run_id", "step")
    )


def _course(values: pl.DataFrame) -> pl.DataFrame:
    runs = values["run_id"].n_unique()
    finite = {name: pl.col(name).filter(pl.col(name).is_finite()) for name in SIGNALS}
    return (
        values.group_by("step")
        .agg(
            pl.len().alias("runs"),
            *(column.mean().alias(f"mean_{name}") for name, column in finite.items()),
            *(column.std().alias(f"sd_{name}") for name, column in finite.items()),
        )
        .filter(pl.col("runs") * 2 >= runs)
        .drop("runs")
        .sort("step")
    )


def _distance(signal: str) -> pl.Expr:
    value, spread = pl.col(signal), pl.col(f"sd_{signal}")
    away = (value - pl.col(f"mean_{signal}")).abs() / spread
    return (
        pl.when(value.is_null() | spread.is_null() | (spread == 0.0))
        .then(0.0)
        .when(~value.is_finite())
        .then(float("inf"))
        .otherwise(away)
    )
