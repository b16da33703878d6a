"""The feature table and the raw table of series and error text: a row per run, with its keys."""

# Values that were never logged are null in the table and NaN in the arrays that methods receive, so
# a number that was logged as NaN is written as infinity.

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.stage import read_output
from failbench.base.telemetry import Telemetry, categories_of
from failbench.features.catalogue import FEATURES, extract
from failbench.features.observables import ERROR_COLUMNS, STEP_COLUMNS, observe

KEYS = ("run_id", "kind", "scenario", "category", "architecture", "optimizer", "scale", "seed")
ERROR_TEXT_COLUMNS = ("error_type", "error_message")

FEATURE_SCHEMA = pl.Schema(  # columns of the feature table of all runs, keyed by ``run_id``
    {
        **dict.fromkeys((*KEYS, *ERROR_TEXT_COLUMNS), pl.String()),
        "seed": pl.Int32(),
        **{feature.name: pl.Float64() for feature in FEATURES},
    }
)


def read_features() -> pl.DataFrame:
    """The features of every run that studies know."""
    return read_output(Path("data/features/features.parquet"), FEATURE_SCHEMA)


def feature_table(
    telemetry: Telemetry, scenarios: Iterable[Scenario], last_steps: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Features of runs, keyed by ``run_id`` and sorted by it.

    Parameters
    ----------
    telemetry
        Recorded runs.
    scenarios
        Their categories label the runs; successful runs have none.
    last_steps
        ``run_id`` and ``last_step`` of the snapshots, one per run; by default every run at its
        ``failure_step``.

    Returns
    -------
    polars.DataFrame
        The columns ``KEYS``, ``ERROR_TEXT_COLUMNS`` at the snapshot, and all features.
    """
    if last_steps is None:
        last_steps = at_failure(telemetry)
    return _in_order(telemetry, scenarios, last_steps).sort("run_id")


def at_failure(telemetry: Telemetry) -> pl.DataFrame:
    """The last snapshot of each run: ``run_id`` and ``last_step``."""
    return telemetry.runs.select("run_id", pl.col("failure_step").alias("last_step"))


def snapshot_table(
    telemetry: Telemetry, scenarios: Iterable[Scenario], last_steps: pl.DataFrame
) -> pl.DataFrame:
    """Features of runs at several steps each, one row per snapshot, sorted by ``run_id``.

    Parameters and columns are those of :func:`feature_table`, except that a run may occur in
    ``last_steps`` more than once, so ``run_id`` is ``"<run>@<step>"``; see
    :func:`split_snapshot_ids`.
    """
    table = _in_order(telemetry, scenarios, last_steps)
    snapshot = pl.format("{}@{}", "run_id", last_steps["last_step"])
    return table.with_columns(run_id=snapshot).sort("run_id")


def split_snapshot_ids(table: pl.DataFrame) -> pl.DataFrame:
    """Split the ``run_id`` of snapshots: add the columns ``run`` and ``step``."""
    parts = pl.col("run_id").str.split("@")
    return table.with_columns(run=parts.list.first(), step=parts.list.last().cast(pl.Int32))


def _in_order(
    telemetry: Telemetry, scenarios: Iterable[Scenario], last_steps: pl.DataFrame
) -> pl.DataFrame:
    observables, run_ids = observe(telemetry, last_steps)
    features = extract(observables)
    text = observables.runs.select("row", *ERROR_TEXT_COLUMNS)
    rows = text.join(features, on="row", how="left", maintain_order="left")
    return with_keys(rows.drop("row"), run_ids, telemetry, scenarios)


def with_keys(
    rows: pl.DataFrame,
    run_ids: tuple[str, ...],
    telemetry: Telemetry,
    scenarios: Iterable[Scenario],
) -> pl.DataFrame:
    """Add the columns ``KEYS`` in front; ``run_ids`` are the runs of the rows."""
    keys = telemetry.runs.join(categories_of(scenarios), on="scenario", how="left").select(KEYS)
    return (
        rows.with_columns(pl.Series("run_id", run_ids, dtype=pl.String))
        .join(keys, on="run_id", how="left", maintain_order="left")
        .select(*KEYS, pl.exclude(KEYS))
    )


def to_frame(table: pl.DataFrame) -> pd.DataFrame:
    """The input of methods by ``run_id``; missing features are NaN, missing text is empty."""
    columns = table.with_columns(pl.col(ERROR_TEXT_COLUMNS).fill_null("")).drop(KEYS[1:])
    return pd.DataFrame(
        {name: columns[name].to_numpy() for name in columns.columns if name != "run_id"},
        index=pd.Index(columns["run_id"].to_list(), name="run_id"),
    )


RAW_TEXT = ERROR_COLUMNS  # of which the traceback is without the project's frames

RAW_SERIES = tuple(name for name in STEP_COLUMNS if name != "step_seconds")
"""Series of all that a step logs but its seconds: machine load tells when, and so what, it ran."""


def raw_table(telemetry: Telemetry, scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """Series and error text of runs up to their failure, keyed by ``run_id`` and sorted by it."""
    observables, run_ids = observe(telemetry, at_failure(telemetry))
    series = (
        observables.steps.select("row", *(_logged(name) for name in RAW_SERIES))
        .group_by("row", maintain_order=True)
        .agg(RAW_SERIES)
    )
    rows = (
        observables.runs.select("row", pl.col(RAW_TEXT).fill_null(""))
        .join(series, on="row", how="left", maintain_order="left")
        .with_columns(pl.col(RAW_SERIES).fill_null([]))
        .drop("row")
    )
    return with_keys(rows, run_ids, telemetry, scenarios).sort("run_id")


def _logged(name: str) -> pl.Expr:
    """A column of steps as numbers; a logged NaN becomes infinity."""
    return pl.col(name).cast(pl.Float64).fill_nan(float("inf")).alias(name)
