"""Measurements: the columns of what is answered from columns that must not tell the label."""

from __future__ import annotations

import polars as pl

from failbench.predictions import PREDICTION_SCHEMA

CONTROL_SCHEMA = pl.Schema({"control": pl.String(), **PREDICTION_SCHEMA})
"""What the forest answered."""

PLANTED_SCHEMA = pl.Schema({**PREDICTION_SCHEMA, "planted": pl.String()})
"""What the decision tree answered, with labels planted or not."""

PERMUTED_SCHEMA = pl.Schema(
    {
        "control": pl.String,
        "permutation": pl.Int32,
        "scenarios": pl.Int32,
        "balanced_accuracy": pl.Float64,
    }
)
"""What the forest is worth on permuted labels."""
