"""Health: whether what was read of a log is what a healthy run shows."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from failbench.base.arrays import Array
from failbench.diagnose.bounds import TIGHTEST
from failbench.diagnose.checks import checks
from failbench.diagnose.readers.log import Log
from failbench.diagnose.series import WINDOW, series_of

NAN: Final = re.compile(r"\bnan\b", re.IGNORECASE)


def shows_health(log: Log) -> bool:
    """Whether losses were read, all finite, that fall below their first ones, at a rate above 0.

    A NaN in another signal, or in a warning, is no health either.
    """
    rows = log.rows
    if np.isnan(rows.values[rows.logged]).any():
        return False
    if any(NAN.search(event.message) for event in log.events):
        return False
    losses = [rows[name][rows.has(name)] for name in ("loss", "perplexity")]
    rates = rows["learning_rate"][rows.has("learning_rate")]
    if not np.isfinite(np.concatenate(losses)).all() or (len(rates) and (rates == 0).all()):
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
