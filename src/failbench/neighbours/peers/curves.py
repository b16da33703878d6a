"""Curves: the series of a log that rules read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.diagnose.readers.log import Log

SIGNALS: Final = ("loss", "grad_norm", "learning_rate")


@dataclass(frozen=True)
class Curves:
    """Series of one run, in the order in which they were logged; a logged NaN stays one."""

    loss: Array
    grad_norm: Array
    learning_rate: Array
    validation: Array
    training: Array


def curves_of(log: Log) -> Curves:
    """The series of a log; of several sources the one with most training losses counts."""
    rows = log.frame()
    losses = rows.filter(pl.col("loss").is_not_null(), _is("train"))
    if losses.height:
        source = losses.group_by("source").len().sort("len", "source", descending=[True, False])
        rows = rows.filter(pl.col("source") == source["source"][0])
    last = pl.when(_is("train")).then("loss").forward_fill()
    pairs = rows.with_columns(training=last).filter(
        _is("validation"), pl.col("loss").is_not_null(), pl.col("training").is_not_null()
    )
    trained = rows.filter(_is("train"))
    return Curves(
        loss=_floats(trained["loss"].drop_nulls()),
        grad_norm=_floats(trained["grad_norm"].drop_nulls()),
        learning_rate=_floats(trained["learning_rate"].drop_nulls()),
        validation=_floats(pairs["loss"]),
        training=_floats(pairs["training"]),
    )


def recorded_curves(steps: pl.DataFrame) -> Curves:
    """The series of a recorded run, as a log of every step would have them."""
    last = steps.with_columns(pl.col("loss").forward_fill())
    pairs = last.filter(pl.col("validation_loss").is_not_null(), pl.col("loss").is_not_null())
    return Curves(
        loss=_floats(steps["loss"].drop_nulls()),
        grad_norm=_floats(steps["gradient_norm"].drop_nulls()),
        learning_rate=_floats(steps["learning_rate"].drop_nulls()),
        validation=_floats(pairs["validation_loss"]),
        training=_floats(pairs["loss"]),
    )


def _is(split: str) -> pl.Expr:
    return pl.col("split").cast(pl.String) == split


def _floats(series: pl.Series) -> Array:
    return series.cast(pl.Float64).to_numpy().astype(np.float64)
