"""The raw table: one row a run, with its step series and error text as they were observed.

Nothing is computed from a series here. Two values are told apart that would look alike in an array:
what was never logged is null here and NaN in the arrays that methods receive, so that a number
that was logged as NaN is written as infinity.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from failbench.features.feature_table import at_failure, with_keys
from failbench.features.observables import ERROR_COLUMNS, STEP_COLUMNS, observe
from failbench.scenarios import Scenario
from failbench.telemetry import Telemetry

RAW_TEXT = ERROR_COLUMNS
"""The columns with error text: type, message, and the traceback without the project's frames."""

RAW_SERIES = tuple(name for name in STEP_COLUMNS if name != "step_seconds")
"""The columns with series: everything that a step logs but its seconds, its number included.

How long a step took depends on what else the machine did in that hour. Runs of a category were
recorded one after another, so that the seconds of healthy twins tell the category of their
scenarios to a method that reads them as they are."""


def raw_table(telemetry: Telemetry, scenarios: Iterable[Scenario]) -> pl.DataFrame:
    """Series and error text of runs up to their failure, keyed by ``run_id`` and sorted by it.

    Parameters
    ----------
    telemetry
        Recorded runs.
    scenarios
        Where the category of each run comes from; successful runs have none.

    Returns
    -------
    polars.DataFrame
        The columns ``feature_table.KEYS``; ``RAW_TEXT``, empty strings where nothing was raised;
        and ``RAW_SERIES``, a list of Float64 a cell with an element a step, empty for a run that
        died before its first step. Units are those of the telemetry.
    """
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
    """A column of steps as numbers; what was logged as NaN becomes infinity."""
    return pl.col(name).cast(pl.Float64).fill_nan(float("inf")).alias(name)
