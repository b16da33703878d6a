"""Alarm: the limit above which a run no longer looks healthy, and when runs first exceed it.

The limit is a conformal one (Vovk, Gammerman and Shafer, 2005, "Algorithmic learning in a random
world"; Bates et al., 2023, "Testing for outliers with conformal p-values"): an order statistic of
healthy runs that took no part in the course that scores are measured from.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from failbench.arrays import Array
from failbench.errors import BadInputError


def alarm_limit(highest: Array, rate: float) -> float:
    """The limit that a new healthy run exceeds with a probability of at most ``rate``.

    The split-conformal quantile: of n exchangeable runs, the score of rank ceil((n + 1)(1 - rate)).
    """
    # rounded first, as 50 * 0.98 must be 49 and no trifle more
    rank = math.ceil(round((len(highest) + 1) * (1 - rate), 9))
    if rank > len(highest):
        raise BadInputError(
            "healthy runs",
            "kind",
            f"{len(highest)} runs cannot show that false alarms stay at {100 * rate:g} % a run; "
            f"it takes {math.ceil(1 / rate) - 1}.",
            "Record more seeds, whose twins are healthy runs, or allow more false alarms.",
        )
    return float(np.sort(highest)[rank - 1])


def first_alarms(scores: pl.DataFrame, limit: float) -> pl.DataFrame:
    """The step at which each run first exceeds the limit: ``run_id``, ``alarm`` (null: never)."""
    above = pl.col("step").filter(pl.col("score") > limit)
    return scores.group_by("run_id").agg(above.min().alias("alarm")).sort("run_id")
