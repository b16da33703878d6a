"""Suspect norms: gradient norms that do not mean what they say."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.diagnose.readers.series import FEWEST, Measured, all_zero

OFTEN: Final = 0.5
"""Share of equal greatest norms from which they are clipped ones."""

SELDOM: Final = 0.1
"""Share of norms that are not finite up to which they are single ones."""


def not_measured(measured: Measured) -> pl.DataFrame:
    """Rows of a norm that is 0 all along though the loss falls."""
    return all_zero(measured.train, "grad_norm") if measured.learns else measured.nothing


def of_overflow(measured: Measured) -> pl.DataFrame:
    """Rows of a norm below 0."""
    return measured.train.filter(pl.col("grad_norm") < 0)


def clipped(measured: Measured) -> pl.DataFrame:
    """Rows of the greatest norm, if most have it."""
    norms = measured.train.filter(pl.col("grad_norm").is_finite(), pl.col("grad_norm") > 0)
    if norms.height < FEWEST:
        return measured.nothing
    greatest = norms.filter(pl.col("grad_norm") == pl.col("grad_norm").max())
    return greatest if greatest.height >= OFTEN * norms.height else measured.nothing


def lone_overflow(measured: Measured) -> pl.DataFrame:
    """Rows of norms that are not finite, if they are few and every loss is finite and not 0."""
    norms = measured.train.filter(pl.col("grad_norm").is_not_null())
    overflowed = norms.filter(~pl.col("grad_norm").is_finite())
    losses = measured.train["loss"].drop_nulls()
    is_sound = bool(losses.is_finite().all()) and not bool((overflowed["loss"] == 0.0).any())
    is_seldom = 0 < overflowed.height <= SELDOM * norms.height
    return overflowed if is_seldom and is_sound and len(losses) else measured.nothing
