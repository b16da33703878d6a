"""Schemas: the columns of what the study of logs measures, and the names in them."""

from __future__ import annotations

from typing import Final

import polars as pl

MONITOR: Final = "monitor"
"""The monitor's log, with bounds from healthy runs of the same setting."""

MONITOR_LOGIC: Final = "monitor, logic alone"
"""The same as a stranger has it, without healthy runs of his own."""


COMPLETE: Final = "complete"
"""A terminal's output that has every signal at every step, and the end."""

ANSWER_SCHEMA: Final = pl.Schema(
    {
        "model": pl.String,
        "repeat": pl.Int32,
        "fold": pl.Int32,
        "run_id": pl.String,
        "format": pl.String,
        "kind": pl.String,
        "setting": pl.String,
        "seed": pl.Int32,
        "scenario": pl.String,
        "category": pl.String,
        "cause": pl.String,
        "present": pl.String,
        "says_end": pl.Boolean,
        "alarm": pl.Boolean,
        "prediction": pl.String,
        "confidence": pl.Float64,
        "predicted_cause": pl.String,
        "cause_confidence": pl.Float64,
    }
)
"""A row per log and repeat. ``present`` are signals that it shows, ``says_end`` whether it has an
exception or a death, ``alarm`` whether anything in it is taken to be wrong; ``prediction`` is the
most probable category, which is named where the confidence allows, and ``predicted_cause`` the most
probable cause of all. Of healthy logs category and cause are null."""

EVIDENCE_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String,
        "item": pl.Int32,
        "format": pl.String,
        "kind": pl.String,
        "checked_by": pl.String,
        "found": pl.Boolean,
    }
)
"""A row per item of evidence of a run's log: what kind it is, by what it was looked up, and whether
it is there. ``checked_by`` is its ``line``, its ``step`` where the format has no lines, or
``course`` where the value is computed of a whole series and stands nowhere."""
