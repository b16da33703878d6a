"""The one edit that separates a crashing notebook from its mended twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from failbench.base.errors import BadInputError
from failbench.notebooks.notebook import REMEDY, Notebook

Place = Literal["target", "earlier", "execution"]


@dataclass(frozen=True)
class Edit:
    """A contiguous replacement in the source of one cell, or another execution of one cell."""

    place: Place
    cell: int
    start: int = 0
    removed: str = ""
    inserted: str = ""


def edit_between(crashing: Notebook, mended: Notebook) -> Edit:
    """The edit that turns the crashing notebook into the mended one."""
    if crashing.card.model_copy(update={"version": "mended"}) != mended.card:
        problem = f"differs in more than the version from that of {crashing.path.name}."
        raise BadInputError(mended.path, "metadata.failbench", problem, REMEDY)
    if len(crashing.cells) != len(mended.cells):
        problem = f"has {len(mended.cells)} cells where its twin has {len(crashing.cells)}."
        raise BadInputError(mended.path, "cells", problem, REMEDY)
    differing = [
        index
        for index, (left, right) in enumerate(zip(crashing.cells, mended.cells, strict=True))
        if left != right
    ]
    if len(differing) != 1:
        problem = f"differs from its twin in {len(differing)} cells, and must in one."
        raise BadInputError(mended.path, "cells", problem, REMEDY)
    index = differing[0]
    before, after = crashing.cells[index], mended.cells[index]
    if before.source == after.source:
        return Edit("execution", index)
    if before.executions != after.executions or not before.is_code:
        problem = "differs from its twin in more than the source of code."
        raise BadInputError(mended.path, f"cells.{index}", problem, REMEDY)
    place: Place = "target" if index == crashing.card.target else "earlier"
    return Edit(place, index, *_replacement(before.source, after.source))


def _replacement(before: str, after: str) -> tuple[int, str, str]:
    """Where the shortest replacement begins, and what it removes and inserts."""
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    left = shorter - start
    tail = next((i for i in range(left) if before[-1 - i] != after[-1 - i]), left)
    return start, before[start : len(before) - tail], after[start : len(after) - tail]
