"""Measurements: what is measured of unknown scenarios beyond the predictions of the main study."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

PARTNER_SCHEMA = pl.Schema(
    {"scenario": pl.String, "partner": pl.String, "partner_category": pl.String}
)


@dataclass(frozen=True)
class Measurements:
    """Answers of a forest with more to go by or less, and what looks like an unknown scenario."""

    predictions: pl.DataFrame
    neighbours: pl.DataFrame
    partners: pl.DataFrame
