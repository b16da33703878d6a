"""Schemas: what the study of peers reads of others' tables, and what it makes of them."""

from __future__ import annotations

from typing import Final

import polars as pl

DOCUMENTED: Final = "documented"
"""Thresholds and bounds as a peer documents them."""

RUN_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String,
        "setting": pl.String,  # architecture and optimizer
        "kind": pl.String,
        "scenario": pl.String,  # of failing runs and their twins
        "category": pl.String,
        "seed": pl.Int32,
        "onset_step": pl.Int32,
        "failure_step": pl.Int32,
        "ends_itself": pl.Boolean,  # by an exception, a signal or hanging, which needs no watching
    }
)
"""The runs of the reference setting, and those of others that a peer was asked about."""

SAID_SCHEMA: Final = pl.Schema(
    {
        "method": pl.String,
        "choice": pl.String,  # of thresholds, ``documented`` or another
        "repeat": pl.Int32,
        "run_id": pl.String,
        "detected": pl.Boolean,  # null where the method is told that the run failed
        "step": pl.Int32,  # of the first alarm; null without one, or where logs are read afterwards
        "prediction": pl.String,
        "conditions": pl.Float64,  # null where a verdict cannot be checked by conditions
    }
)
"""What a method says of a run; its key are the first four."""

LOG_ANSWERS: Final = pl.Schema(
    {
        "model": pl.String,
        "repeat": pl.Int32,
        "run_id": pl.String,
        "format": pl.String,
        "setting": pl.String,
        "alarm": pl.Boolean,
        "prediction": pl.String,
        "confidence": pl.Float64,
    }
)
"""Columns of the answers to rendered logs that are read."""

COMPLETE_LOG: Final = {"model": "log", "format": "complete"}
"""Which of them are of complete logs, with every signal at every step and the end."""

BREAKS: Final = pl.Schema(
    {
        "version": pl.String,
        "run_id": pl.String,
        "bounds": pl.String,
        "steps_ahead": pl.Int32,
        "first_break": pl.Int32,
    }
)
"""Columns of the monitor's verdicts that are read."""
