"""Measurements of a run besides its features: the seconds of its steps, and how it ended."""

from __future__ import annotations

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.features.feature import RECENT_STEPS, slope

HEAD_STEPS = 100
"""Steps whose time counts as normal: before the earliest onset in the middle of a run."""

SLOW = 2.0
"""A step that takes this many times the median is slow, as is a run from this factor on."""

STEP_TIMES = (
    "step_seconds_ratio",
    "slowest_step_ratio",
    "slow_step_share",
    "step_seconds_trend",
)
"""Of the seconds: last over first, slowest over median, share of slow steps, logarithmic slope."""

ENDINGS = ("ended_exception", "ended_signal", "ended_timeout")
"""Whether the run raised an error, was killed, or stopped answering; none if it completed."""

MEASUREMENTS = (*STEP_TIMES, *ENDINGS)


def measurements(telemetry: Telemetry) -> pl.DataFrame:
    """Measure runs at their failure, from the same steps that their features are taken from."""
    runs = telemetry.runs.sort("run_id")
    endings = ("completed", *(name.removeprefix("ended_") for name in ENDINGS))
    unknown = runs.filter(~pl.col("ending").is_in(endings))
    if unknown.height:
        raise BadInputError(
            "telemetry",
            "ending",
            f"{unknown['run_id'][0]!r} ended by {unknown['ending'][0]!r}.",
            f"Known are {', '.join(endings)}.",
        )
    ended = (
        (pl.col("ending") == name.removeprefix("ended_")).cast(pl.Float64).alias(name)
        for name in ENDINGS
    )
    return (
        runs.select("run_id", *ended)
        .join(_step_times(telemetry), on="run_id", how="left", maintain_order="left")
        .select("run_id", *MEASUREMENTS)
    )


def _step_times(telemetry: Telemetry) -> pl.DataFrame:
    seconds = pl.col("step_seconds")
    timed = (
        telemetry.steps.join(telemetry.runs.select("run_id", "failure_step"), on="run_id")
        .filter(pl.col("step") <= pl.col("failure_step"), seconds > 0)
        .with_columns(seconds.cast(pl.Float64))
        .with_columns(log_seconds=seconds.log())
        .sort("run_id", "step")
    )
    expressions = {
        "step_seconds_ratio": seconds.tail(RECENT_STEPS).median()
        / seconds.head(HEAD_STEPS).median(),
        "slowest_step_ratio": seconds.max() / seconds.median(),
        "slow_step_share": (seconds > SLOW * seconds.median()).mean(),
        "step_seconds_trend": slope("log_seconds"),
    }
    several = pl.len() > 1
    return timed.group_by("run_id", maintain_order=True).agg(
        pl.when(several).then(expressions[name]).alias(name) for name in STEP_TIMES
    )
