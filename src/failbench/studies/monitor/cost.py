"""Cost: what each rung of the ladder takes of a training's time, as it was measured."""

from __future__ import annotations

from typing import Final

import polars as pl

COST_SCHEMA: Final = pl.Schema(
    {
        "rung": pl.String(),
        "nominal_milliseconds": pl.Float64(),  # of a step, as it was aimed at
        "milliseconds": pl.Float64(),  # of a step without a monitor, as it was
        "ratio": pl.Float64(),  # of a step with what the rung measures to one without
    }
)
"""Columns of ``cost.csv``, keyed by ``(rung, nominal_milliseconds)``."""
