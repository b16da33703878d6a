"""Conformal limits: what a new healthy run exceeds no more often than was asked for.

Vovk, Gammerman and Shafer (2005), "Algorithmic learning in a random world"; Bates et al. (2023),
"Testing for outliers with conformal p-values".
"""

from __future__ import annotations

import math

import numpy as np

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError


def alarm_limit(highest: Array, rate: float) -> float:
    """The limit that a new healthy run exceeds with a probability of at most ``rate``.

    The split-conformal quantile: of n exchangeable runs, the score of rank ceil((n + 1)(1 - rate)).

    Raises
    ------
    BadInputError
        If so few runs cannot show so low a rate.
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
