"""Partners: labelled scenarios with the same surface as an unknown one."""

from __future__ import annotations

import polars as pl

PARTNER_SCHEMA = pl.Schema(
    {"scenario": pl.String, "partner": pl.String, "partner_category": pl.String}
)
SURFACE = ("outcome", "has_error", "exit_signal")
"""What a run shows without reading its telemetry."""


def partners(failing: pl.DataFrame) -> pl.DataFrame:
    """Pairs of an unknown and a labelled scenario with the same surface."""
    surfaces = (
        failing.with_columns(has_error=pl.col("error_type").is_not_null())
        .select("scenario", "category", *SURFACE)
        .unique()
    )
    unknown = pl.col("category") == "unknown"
    labelled = surfaces.filter(~unknown).rename(
        {"scenario": "partner", "category": "partner_category"}
    )
    return (
        surfaces.filter(unknown)
        .drop("category")
        .join(labelled, on=SURFACE, nulls_equal=True)
        .select("scenario", "partner", "partner_category")
        .unique()
        .sort("scenario", "partner_category", "partner")
    )
