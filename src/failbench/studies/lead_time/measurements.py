"""Measurements: what is measured of runs before they fail, table by table."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.predictions import PREDICTION_SCHEMA

EARLY_SCHEMA = pl.Schema(
    {
        **PREDICTION_SCHEMA,
        "evidence": pl.Boolean(),
        "subset": pl.String(),
        "steps_ahead": pl.Int32(),
        "step": pl.Int32(),
    }
)
RUNS_SCHEMA = pl.Schema(
    {
        "run_id": pl.String,
        "category": pl.String,
        "scenario": pl.String,
        "onset_step": pl.Int32,
        "failure_step": pl.Int32,
    }
)
SCORES_SCHEMA = pl.Schema({"run_id": pl.String, "step": pl.Int32, "score": pl.Float64})
HEALTHY_SCORES_SCHEMA = pl.Schema(
    {"run_id": pl.String, "category": pl.String, "scenario": pl.String, "score": pl.Float64}
)
"""Columns of the four tables of :class:`Measurements`, in its order."""


@dataclass(frozen=True)
class Measurements:
    """What every rate of the study is computed from."""

    predictions: pl.DataFrame
    runs: pl.DataFrame
    scores: pl.DataFrame
    healthy_scores: pl.DataFrame
