"""Looks: what methods answer of running trainings, every few steps from onset to failure."""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.features.feature_table import split_snapshot_ids
from failbench.prediction.conditions import by_view, stacked
from failbench.prediction.nested_cv import nested_cv
from failbench.records import Record
from failbench.studies.lead_time.settings import LOOK
from failbench.studies.lead_time.snapshots import EARLY_FEATURES, EARLY_SET, STUDY

TRAINING, WATCHED = "training", "watched"


def looks(runs: pl.DataFrame, every: int, start: pl.Expr, end: pl.Expr) -> pl.DataFrame:
    """Every how many steps runs are looked at, as ``run_id`` and ``last_step``."""
    first = ((start.clip(lower_bound=1) + every - 1) // every * every).cast(pl.Int64)
    steps = pl.int_ranges(first, end.cast(pl.Int64) + 1, every)
    return (
        runs.select("run_id", last_step=steps)
        .explode("last_step")
        .drop_nulls("last_step")
        .cast({"last_step": pl.Int32})
    )


def spread_over_fault(runs: pl.DataFrame, count: int) -> pl.DataFrame:
    """Steps to train on: ``count`` per run, evenly from its onset to the step before its failure.

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


def look_predictions(
    training: pl.DataFrame,
    watched: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """What a method answers at every look at runs whose scenarios it never trained on."""
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
    return (
        split_snapshot_ids(predictions).with_columns(run_id="run", subset=pl.lit(LOOK)).drop("run")
    )
