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
    """What every rate of the study is computed from.

    Attributes
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` and ``subset``, one of those in ``settings``;
        ``steps_ahead``, the steps between a snapshot and the failure (null for looks); ``step``,
        the last step that a look saw (null for snapshots); and ``evidence``, whether the diagnosis
        names what it rests on (of ``HEALTHY`` alone). ``HEALTHY`` has no ``fold``, as its fit is
        trained on all failing runs.
    runs
        The failing runs: ``run_id``, ``category``, ``scenario``, ``onset_step`` and
        ``failure_step``.
    scores
        How unlike successful runs the failing ones are: ``run_id``, ``step`` and ``score``.
    healthy_scores
        The highest score of each healthy run that calibrates the alarm or tries it: ``run_id``,
        ``category``, ``scenario`` and ``score``.
    """

    predictions: pl.DataFrame
    runs: pl.DataFrame
    scores: pl.DataFrame
    healthy_scores: pl.DataFrame
