"""Early diagnosis: how long before its failure a run is diagnosed right, and for good.

A run is looked at every few steps. It counts as diagnosed at the first look at which an alarm has
been raised, the diagnosis is right, and so is that of every later look before the failure. Time
starts at onset. A run that fails before that happens is not censored, for it can no longer be
diagnosed early: failure is a competing event. As every run is watched until its failure, the
estimator of the cumulative incidence of Aalen and Johansen (1978, "An empirical transition matrix
for non-homogeneous Markov chains") is the plain share of all runs.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.statistics.scenario_values import right


def lead_times(runs: pl.DataFrame, alarms: pl.DataFrame, looks: pl.DataFrame) -> pl.DataFrame:
    """When each run was diagnosed right for good."""
    last_wrong = pl.col("step").filter(~right()).max().fill_null(-1)
    alarmed = runs.join(alarms, on="run_id", how="left").with_columns(
        pl.when(pl.col("alarm") >= pl.col("onset_step")).then("alarm").alias("alarm")
    )
    settled = (
        looks.join(alarmed.select("run_id", "alarm"), on="run_id")
        .filter(pl.col("step") > last_wrong.over("run_id", "repeat"))
        .filter(pl.col("step") >= pl.col("alarm"))
        .group_by("run_id", "repeat")
        .agg(pl.col("step").min().alias("diagnosed"))
    )
    return (
        runs.join(looks.select("repeat").unique(), how="cross")
        .join(settled, on=("run_id", "repeat"), how="left")
        .with_columns(
            lead=pl.col("failure_step") - pl.col("diagnosed"),
            delay=pl.col("diagnosed") - pl.col("onset_step"),
        )
        .drop("diagnosed")
        .sort("run_id", "repeat")
    )


def shares(steps: tuple[int, ...]) -> Mapping[tuple[str, int], pl.Expr]:
    """Of each run, whether it was diagnosed at least so many steps ahead, or at most so many late.

    By ``ahead`` or ``within`` and the number of steps, as expressions over :func:`lead_times`.
    """
    return {
        **{("ahead", count): (pl.col("lead") >= count).fill_null(value=False) for count in steps},
        **{("within", count): (pl.col("delay") <= count).fill_null(value=False) for count in steps},
    }
