"""The raw table: one row per run, with its step series and error text as observed.

No feature is computed from a series. Values that were never logged are null in the table and NaN in
the arrays that methods receive, so a number that was logged as NaN is written as infinity.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from failbench.base.scenarios import Scenario
from failbench.base.telemetry import Telemetry
from failbench.features.feature_table import at_failure, with_keys
from failbench.features.observables import ERROR_COLUMNS, STEP_COLUMNS, observe

RAW_TEXT = ERROR_COLUMNS
"""The columns with error text: type, message, and the traceback without the project's frames."""

RAW_SERIES = tuple(name for name in STEP_COLUMNS if name != "step_seconds")
"""The columns with series: everything that a step logs, its number included, except its seconds.

The duration of a step depends on the load of the machine. Runs of a category were recorded one
after another, so the seconds of healthy twins would reveal the category of their scenarios."""


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
