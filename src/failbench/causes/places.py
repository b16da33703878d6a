"""Places: where an error was raised, told from the frames of its traceback.

``data/places.csv`` lists them. Frames are tried from the innermost outwards, and each against the
rows in their order: the innermost frame whose place is known counts.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from failbench.base.vocabulary import CATEGORIES, Category

LONGEST_FRAME: Final = 800
"""Letters of a frame that are searched, its last ones: longer than any path and function."""


@dataclass(frozen=True)
class Place:
    """A part of a training that raises errors."""

    id: str
    pattern: re.Pattern[str]
    component: Category | None
    causes: tuple[str, ...]
    statement: str


@cache
def places() -> tuple[Place, ...]:
    """All places, in the order in which a frame is tried against them."""
    text = files("failbench.causes").joinpath("data/places.csv").read_text(encoding="utf-8")
    return tuple(
        Place(
            row["place"],
            re.compile(row["pattern"]),
            CATEGORIES[CATEGORIES.index(row["component"])] if row["component"] else None,
            tuple(row["causes"].split(";")) if row["causes"] else (),
            row["statement"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def places_of(frames: tuple[str, ...]) -> tuple[Place, ...]:
    """All places that frames went through, the innermost first and each once.

    The first one says where the error was raised; those behind it say on whose behalf, as an
    evaluation around a forward pass.
    """
    found = (_place_of_frame(frame) for frame in reversed(frames))
    return tuple(dict.fromkeys(place for place in found if place is not None))


def place_of(frames: tuple[str, ...]) -> Place | None:
    """Where an error was raised, or None where no frame says it."""
    found = (_place_of_frame(frame) for frame in reversed(frames))
    return next((place for place in found if place is not None), None)


def _place_of_frame(frame: str) -> Place | None:
    said = frame[-LONGEST_FRAME:]
    return next((place for place in places() if place.pattern.search(said)), None)
