"""Thinning: fewer points that look the same, with every spike and gap."""

from __future__ import annotations

from typing import Final

import numpy as np

from failbench.base.arrays import Array

MOST_POINTS: Final = 2_000
"""Of a curve: more than a picture has columns of pixels."""


def thinned(x: Array, y: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """At most ``most`` points of a curve, in their order.

    Each of equally many rows keeps its lowest and highest value and the first that is not finite;
    the first and last point of all are kept too.
    """
    if len(y) <= most:
        return x, y
    kept = {0, len(y) - 1}
    for part in np.array_split(np.arange(len(y)), (most - 2) // 3):
        finite = np.isfinite(y[part])
        if finite.any():
            numbers = part[finite]
            kept |= {int(numbers[y[numbers].argmin()]), int(numbers[y[numbers].argmax()])}
        if not finite.all():
            kept.add(int(part[~finite][0]))
    chosen = np.array(sorted(kept))
    return x[chosen], y[chosen]
