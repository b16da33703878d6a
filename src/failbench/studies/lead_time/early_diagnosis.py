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

import numpy as np
import polars as pl

from failbench.features.feature_table import cut_at
from failbench.prediction.conditions import by_view, stacked
from failbench.prediction.nested_cv import nested_cv
from failbench.records import Record
from failbench.studies.lead_time.early_accuracy import EARLY_FEATURES, EARLY_SET

TRAINING, WATCHED = "training", "watched"
STUDY = "lead_time"


def looks(runs: pl.DataFrame, every: int, start: pl.Expr, end: pl.Expr) -> pl.DataFrame:
    """Every how many steps runs are looked at, as ``run_id`` and ``last_step``.

    Parameters
    ----------
    runs
        A row a run, with what the expressions need.
    every
        Looks are at the multiples of so many steps.
    start, end
        First and last step that may be looked at; runs without a look between have no row.
    """
    first = ((start.clip(lower_bound=1) + every - 1) // every * every).cast(pl.Int64)
    steps = pl.int_ranges(first, end.cast(pl.Int64) + 1, every)
    return (
        runs.select("run_id", last_step=steps)
        .explode("last_step")
        .drop_nulls("last_step")
        .cast({"last_step": pl.Int32})
    )


def spread_over_fault(runs: pl.DataFrame, count: int) -> pl.DataFrame:
    """Steps to train on: ``count`` a run, evenly from its onset to the step before its failure.

    Every run has as many, however long it took to fail, so that it counts as much as any other;
    where there are fewer steps some repeat. Runs that fail where their fault begins have none.
    """
    fallible = runs.filter(pl.col("failure_step") > pl.col("onset_step"))
    rows = [
        (run_id, int(step))
        for run_id, onset, failure in fallible.select(
            "run_id", "onset_step", "failure_step"
        ).iter_rows()
        for step in np.linspace(onset, failure - 1, count).round()
    ]
    return pl.DataFrame(rows, schema={"run_id": pl.String, "last_step": pl.Int32}, orient="row")


def watch(
    training: pl.DataFrame,
    watched: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """What a method says at every look at runs whose scenarios it never trained on.

    Parameters
    ----------
    training, watched
        Feature tables of snapshots after onset and before failure, as
        :func:`failbench.features.feature_table.snapshot_table` returns them.
    successes
        Feature table of successful runs at their ends, from which fixed thresholds are taken.
    splits
        Folds by scenario.
    method, settings
        Name in ``methods.catalogue.CATALOGUE`` and its settings.
    seed
        Of the fits.
    workers
        Processes; the result does not depend on it.

    Returns
    -------
    polars.DataFrame
        ``run``, ``step``, ``repeat`` and ``right``.
    """
    predictions = nested_cv(
        stacked({TRAINING: training, WATCHED: watched}),
        successes,
        splits,
        method,
        settings,
        {EARLY_SET: EARLY_FEATURES},
        seed,
        workers,
        by_view(STUDY, splits, TRAINING, (WATCHED,)),
    )
    return cut_at(predictions).select(
        "run", "step", "repeat", right=pl.col("prediction") == pl.col("category")
    )


def lead_times(runs: pl.DataFrame, alarms: pl.DataFrame, said: pl.DataFrame) -> pl.DataFrame:
    """When each run was diagnosed right for good.

    Parameters
    ----------
    runs
        ``run``, ``category``, ``scenario``, ``onset_step`` and ``failure_step``, a row a run.
    alarms
        ``run`` and ``alarm``, the step of its first alarm (null: never). An alarm before onset is a
        false one, and its run counts as never diagnosed early.
    said
        As :func:`watch` returns it: looks from onset to before the failure.

    Returns
    -------
    polars.DataFrame
        A row a run and repeat: the columns of ``runs``, ``repeat``, and, null where it never was
        diagnosed, ``lead`` (steps before failure) and ``delay`` (steps after onset).
    """
    last_wrong = pl.col("step").filter(~pl.col("right")).max().fill_null(-1)
    alarmed = runs.join(alarms, on="run", how="left").with_columns(
        pl.when(pl.col("alarm") >= pl.col("onset_step")).then("alarm").alias("alarm")
    )
    settled = (
        said.join(alarmed.select("run", "alarm"), on="run")
        .filter(pl.col("step") > last_wrong.over("run", "repeat"))
        .filter(pl.col("step") >= pl.col("alarm"))
        .group_by("run", "repeat")
        .agg(pl.col("step").min().alias("diagnosed"))
    )
    return (
        runs.join(said.select("repeat").unique(), how="cross")
        .join(settled, on=("run", "repeat"), how="left")
        .with_columns(
            lead=pl.col("failure_step") - pl.col("diagnosed"),
            delay=pl.col("diagnosed") - pl.col("onset_step"),
        )
        .drop("diagnosed")
        .sort("run", "repeat")
    )


def shares(steps: tuple[int, ...]) -> Mapping[str, pl.Expr]:
    """Of each run, whether it was diagnosed at least so many steps ahead, or at most so many late.

    ``ahead_<k>`` and ``within_<k>``, as expressions over :func:`lead_times`.
    """
    return {
        **{f"ahead_{k}": (pl.col("lead") >= k).fill_null(value=False) for k in steps},
        **{f"within_{k}": (pl.col("delay") <= k).fill_null(value=False) for k in steps},
    }
