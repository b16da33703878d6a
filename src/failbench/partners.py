"""Partners: labelled scenarios that look like an unknown one where anybody would look first."""

from __future__ import annotations

import polars as pl

SURFACE = ("outcome", "has_error", "exit_signal")
"""What a run shows without its telemetry being read."""


def partners(failing: pl.DataFrame) -> pl.DataFrame:
    """Pairs of an unknown and a labelled scenario with the same surface.

    Parameters
    ----------
    failing
        Failing runs: ``scenario``, ``category``, ``outcome``, ``error_type`` and ``exit_signal``.

    Returns
    -------
    polars.DataFrame
        ``scenario``, ``partner`` and ``partner_category``, sorted: a row a pair of which some runs
        have the same outcome, both an error text or both none, and the same exit signal.
    """
    looks = (
        failing.with_columns(has_error=pl.col("error_type").is_not_null())
        .select("scenario", "category", *SURFACE)
        .unique()
    )
    unknown = pl.col("category") == "unknown"
    labelled = looks.filter(~unknown).rename(
        {"scenario": "partner", "category": "partner_category"}
    )
    return (
        looks.filter(unknown)
        .drop("category")
        .join(labelled, on=SURFACE, nulls_equal=True)
        .select("scenario", "partner", "partner_category")
        .unique()
        .sort("scenario", "partner_category", "partner")
    )
