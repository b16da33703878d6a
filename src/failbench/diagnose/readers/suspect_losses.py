"""Suspect losses: losses and perplexities that do not mean what they say."""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from failbench.diagnose.readers.series import FEWEST, Measured

SMALL: Final = 1e-3
"""Nats: a loss that falls to exactly 0 passes below this before."""

EQUAL: Final = 0.02
"""Relative difference up to which two numbers of a log are one, which was rounded twice."""

TWENTY: Final = 20
"""Losses from which a plateau, or a whole run at one level, can be seen."""

SEVERAL: Final = 3.5
"""Times the loss of held-out data, from which a training loss is a sum: dropout and regularization
do not reach this."""

LARGE: Final = 1_000.0
"""Perplexities from which an equal number is no rounding."""

APART: Final = 0.05
"""Nats by which two losses have different perplexities in any print."""

CLASSES: Final = (2, 3, 4, 5, 10, 20, 100, 1000, 30522, 32000, 50257, 50304, 65536, 128256, 151936)
"""Numbers of classes that are common, and vocabularies of public tokenizers."""

AT_LEVEL: Final = 0.01
"""Relative difference to the logarithm of a number of classes that batches make."""


def hidden_nan(measured: Measured) -> pl.DataFrame:
    """Rows of a loss of exactly 0 beside a gradient that is not finite."""
    return measured.train.filter(pl.col("loss") == 0.0, ~pl.col("grad_norm").is_finite())


def missing(measured: Measured) -> pl.DataFrame:
    """Rows of a loss of exactly 0 behind one that is not small."""
    finite_gradient = pl.col("grad_norm").is_null() | pl.col("grad_norm").is_finite()
    losses = measured.train.filter(pl.col("loss").is_not_null())
    return losses.filter(pl.col("loss") == 0.0, pl.col("loss").shift(1) > SMALL, finite_gradient)


def evaluation_not_finite(measured: Measured) -> pl.DataFrame:
    """Rows of held-out losses that are not finite, if all of training are."""
    losses = measured.train["loss"].drop_nulls()
    norms = measured.train["grad_norm"].drop_nulls()
    if not len(losses) or not (losses.is_finite().all() and norms.is_finite().all()):
        return measured.nothing
    return measured.held_out.filter(~pl.col("loss").is_finite())


def left_out(measured: Measured) -> pl.DataFrame:
    """Rows with a rate and a step but no loss, if most with these have one."""
    lines = measured.train.filter(
        pl.col("learning_rate").is_not_null(), pl.col("step").is_not_null()
    )
    without = lines.filter(pl.col("loss").is_null())
    return without if 2 * without.height < lines.height else measured.nothing


def mean_of_run(measured: Measured) -> pl.DataFrame:
    """The last row, if its loss is the mean of all before it and above the last ones."""
    losses = measured.losses
    before, last = losses["loss"].head(-1), losses.tail(1)
    if len(before) < FEWEST:
        return measured.nothing
    mean, latest = before.mean(), before.tail(len(before) // 4).max()
    return last.filter(_near(pl.col("loss"), pl.lit(mean)), pl.col("loss") > latest)


def in_bits(measured: Measured) -> pl.DataFrame:
    """Rows with a loss whose power of 2 is the perplexity, if all with both are.

    Below half a nat the powers of 2 and e are too near to one another.
    """
    both = _with_perplexity(measured).filter(pl.col("loss").is_between(0.5, 100))
    powers = both.filter(_near(pl.lit(2.0).pow(pl.col("loss")), pl.col("perplexity")))
    return powers if 3 <= powers.height == both.height else measured.nothing


def capped_perplexity(measured: Measured) -> pl.DataFrame:
    """Rows of the greatest perplexity, if it is large and their losses differ."""
    both = _with_perplexity(measured)
    top = both.filter(
        pl.col("perplexity") == pl.col("perplexity").max(), pl.col("perplexity") >= LARGE
    )
    spread = top.select(pl.col("loss").max() - pl.col("loss").min()).item()
    return top if spread is not None and spread > APART else measured.nothing


def perplexity_overflows(measured: Measured) -> pl.DataFrame:
    """Rows of a perplexity that is infinite beside a loss that is not."""
    rows = pl.concat([measured.train, measured.held_out])
    return rows.filter(pl.col("perplexity").is_infinite(), pl.col("loss").is_finite())


def rounded(measured: Measured) -> pl.DataFrame:
    """Rows whose loss equals the one before, if half do and all have two decimals at most."""
    losses = measured.losses
    if losses.height < TWENTY or losses["loss"].n_unique() == 1:
        return measured.nothing
    hundreds = losses["loss"] * 100
    if not ((hundreds - hundreds.round()).abs() < 1e-6).all():
        return measured.nothing
    equal = losses.filter(pl.col("loss").diff() == 0.0)
    return equal if 2 * equal.height >= losses.height else measured.nothing


def negative(measured: Measured) -> pl.DataFrame:
    """Rows of a loss below 0."""
    return measured.losses.filter(pl.col("loss") < 0)


def accumulated(measured: Measured) -> pl.DataFrame:
    """The last quarter of losses, if it is several times as high as that of held-out data."""
    losses = measured.losses
    held_out = measured.held_out.filter(pl.col("loss").is_finite(), pl.col("loss") > 0)
    if losses.height < FEWEST or held_out.height < 2:
        return measured.nothing
    last = losses.tail(losses.height // 4)
    usual = last.select(pl.col("loss").median()).item()
    latest = held_out.tail(max(1, held_out.height // 4))
    return (
        last if usual >= SEVERAL * latest.select(pl.col("loss").median()).item() else last.clear()
    )


def chance_level(measured: Measured) -> pl.DataFrame:
    """All losses behind the first quarter, if they stay at the logarithm of one number."""
    losses = measured.losses
    later = losses.tail(-(losses.height // 4))
    if losses.height < TWENTY:
        return measured.nothing
    for classes in CLASSES:
        level = math.log(classes)
        if (losses["loss"] >= level * (1 - AT_LEVEL)).all() and (
            (later["loss"] / level - 1).abs() <= AT_LEVEL
        ).all():
            return later
    return measured.nothing


def _with_perplexity(measured: Measured) -> pl.DataFrame:
    rows = pl.concat([measured.train, measured.held_out])
    return rows.filter(pl.col("perplexity").is_finite(), pl.col("loss").is_finite())


def _near(first: pl.Expr, second: pl.Expr) -> pl.Expr:
    return (first / second - 1).abs() <= EQUAL
