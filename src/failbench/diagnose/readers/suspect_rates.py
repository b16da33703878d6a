"""Suspect rates: learning rates and steps that do not mean what they say."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.diagnose.readers.series import Measured, all_zero

FAR: Final = 3
"""Times between two lines by which a step falls back; ranks that print in turn fall by less."""


def rounded(measured: Measured) -> pl.DataFrame:
    """Rows of a rate that is 0 all along though the loss falls."""
    return all_zero(measured.train, "learning_rate") if measured.learns else measured.nothing


def warmup_from_zero(measured: Measured) -> pl.DataFrame:
    """Rows of a rate of 0 before all others."""
    rates = measured.train.filter(pl.col("learning_rate").is_not_null())
    before = rates.filter((pl.col("learning_rate") == 0.0).cum_min())
    return before if 0 < before.height < rates.height else measured.nothing


def steps_go_back(measured: Measured) -> pl.DataFrame:
    """Rows whose step is lower than that of the row before by several lines' worth."""
    steps = measured.train.filter(pl.col("step").is_not_null())
    change = pl.col("step").diff()
    usual = steps.select(change.filter(change > 0).median()).item()
    return measured.nothing if usual is None else steps.filter(change < -FAR * usual)
