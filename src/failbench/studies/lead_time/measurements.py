"""Measurements: what is measured of runs before they fail, table by table."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


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
