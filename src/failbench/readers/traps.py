"""Traps: values that a log shows and that do not mean what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.readers.log import Log

ZERO: Final = (
    "A loss of exactly 0 beside a gradient that is not finite: transformers leaves losses that are "
    "not finite out of its means (`logging_nan_inf_filter`), so that the loss is NaN here."
)
MISSING: Final = (
    "A loss of exactly 0 between losses that are not small stands for a value that was not there: "
    "a mean over no steps, a field that was set back, or a loss that was left out."
)
SMALL: Final = 1e-3
"""Nats: a loss that falls to exactly 0 passes below this before."""


@dataclass(frozen=True)
class Trap:
    """A value that misleads.

    Attributes
    ----------
    kind
        Its name.
    source, line, step
        Where it first stands, as far as the log says.
    rows
        How often it occurs.
    meaning
        What it means, in sentences.
    """

    kind: str
    source: int
    line: int | None
    step: int | None
    rows: int
    meaning: str


def traps(log: Log) -> tuple[Trap, ...]:
    """The traps of a log, each once: losses that read 0 and are not."""
    trained = log.rows.filter(pl.col("split").cast(pl.String) == "train")
    zero = pl.col("loss") == 0.0
    hidden = trained.filter(zero, pl.col("grad_norm").is_finite().not_())
    losses = trained.filter(pl.col("loss").is_not_null())
    before = pl.col("loss").shift(1).over("source")
    missing = losses.filter(zero, before > SMALL, _finite_gradient())
    kinds = (("hidden_nan", hidden, ZERO), ("missing_loss", missing, MISSING))
    return tuple(_first(kind, rows, meaning) for kind, rows, meaning in kinds if rows.height)


def _first(kind: str, rows: pl.DataFrame, meaning: str) -> Trap:
    source, line, step = rows.select("source", "line", "step").row(0)
    return Trap(kind, source, line, step, rows.height, meaning)


def _finite_gradient() -> pl.Expr:
    return pl.col("grad_norm").is_null() | pl.col("grad_norm").is_finite()
