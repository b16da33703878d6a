"""Health: whether what was read of a log is what a healthy run shows."""

from __future__ import annotations

import re
from typing import Final

import polars as pl
from polars import selectors as cs

from failbench.base.arrays import Array
from failbench.diagnose.bounds import TIGHTEST
from failbench.diagnose.checks import checks
from failbench.diagnose.compared import WINDOW
from failbench.diagnose.readers.log import Log
from failbench.diagnose.series import series_of

NAN: Final = re.compile(r"\bnan\b", re.IGNORECASE)


def shows_health(log: Log) -> bool:
    """Whether losses were read, all finite, that fall below their first ones, at a rate above 0.

    A NaN in another signal, or in a warning, is no health either.
    """
    signals = log.rows.select(cs.float().drop_nulls().is_nan().any())
    if any(signals.row(0)) or any(NAN.search(event.message) for event in log.events):
        return False
    rates = log.rows["learning_rate"].drop_nulls()
    losses = log.rows.select(pl.col("loss", "perplexity").drop_nulls().is_finite().all())
    if not all(losses.row(0)) or (len(rates) and (rates == 0).all()):
        return False
    series = series_of(log)
    return any(
        _falls(series[name].values) for name in ("loss", "validation_loss") if name in series
    )


def _falls(values: Array) -> bool:
    """Whether a later value lies below all first ones: eight, or a third of a short series.

    By as much of them as a loss must fall that the check of unmoved losses passes.
    """
    first = max(1, min(WINDOW, len(values) // 3))
    least = values[:first].min()
    needed = abs(least) * (checks()["loss_unmoved"].bound or 0.0)
    return len(values) > first and bool(least - values[first:].min() >= max(needed, TIGHTEST))
