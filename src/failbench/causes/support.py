"""Support: which causes it speaks for that something broke, ended or was raised at a place.

``data/invariants.csv`` and ``data/endings.csv`` say it for every invariant and every ending of the
monitor, written from what each of them measures; ``data/places.csv`` for parts of a training in
which errors are raised.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Final, Literal

from pydantic import AliasChoices, Field

from failbench.base.records import OrNone, Record, packaged_rows
from failbench.base.vocabulary import Category
from failbench.causes.catalogue import CauseNames

Strength = Literal["direct", "circumstantial"]
"""Direct evidence says what is wrong; circumstantial evidence has other causes too."""

LONGEST_FRAME: Final = 800
"""Letters of a frame that are searched, its last ones: longer than any path and function."""


class Support(Record):
    """What an invariant or an ending speaks for."""

    id: str = Field(validation_alias=AliasChoices("invariant", "ending"))
    strength: Strength
    causes: CauseNames


class Place(Record):
    """A part of a training that raises errors."""

    id: str = Field(validation_alias="place")
    pattern: re.Pattern[str]
    component: Annotated[Category | None, OrNone]
    causes: CauseNames
    statement: str


@cache
def supports(kind: Literal["invariant", "ending"]) -> dict[str, Support]:
    """What every invariant or every ending speaks for, by its id."""
    return {row.id: row for row in packaged_rows("failbench.causes", f"{kind}s.csv", Support)}


@cache
def places() -> tuple[Place, ...]:
    """All places, in the order in which a frame is tried against them."""
    return packaged_rows("failbench.causes", "places.csv", Place)


def places_of(frames: tuple[str, ...]) -> tuple[Place, ...]:
    """All places that frames went through, the innermost first and each once.

    The first one says where the error was raised; those behind it say on whose behalf, as an
    evaluation around a forward pass.
    """
    found = (_place_of(frame[-LONGEST_FRAME:]) for frame in reversed(frames))
    return tuple(dict.fromkeys(place for place in found if place is not None))


def _place_of(frame: str) -> Place | None:
    return next((place for place in places() if place.pattern.search(frame)), None)
