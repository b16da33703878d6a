"""The order of the rows of a made-up table, which is the most ordinary one that the facts allow."""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np

Facts = dict[str, Any]

DEPTH: Final = 3
"""Columns that are keys together, at most."""

SPARE: Final = 1.25
"""By how much combinations of keys may be more than the rows, of which some are then not there."""


def crossing(contents: dict[int, Facts], rows: int) -> dict[int, Any]:
    """Columns that are keys together, and of each the place of every row among its values."""
    sizes = {
        place: int(facts["distinct"])
        for place, facts in contents.items()
        if 1 < int(facts.get("distinct", 0)) < rows
    }
    sure = {
        place for place in sizes if "range" not in contents[place] or _is_moment(contents[place])
    }
    best: tuple[int, ...] = ()
    spare = SPARE * rows
    for depth in range(2, DEPTH + 1):
        for places in itertools.combinations(sizes, depth):
            product = int(np.prod([sizes[place] for place in places]))
            is_likely = product == rows or (product > rows and set(places) <= sure)
            if is_likely and product < spare:
                best, spare = places, product
    known = np.unravel_index(np.arange(rows), [sizes[place] for place in best]) if best else ()
    return dict(zip(best, known, strict=True))


def _is_moment(facts: Facts) -> bool:
    return isinstance(facts["range"][0], str)
