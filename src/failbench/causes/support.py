"""Support: which causes a broken invariant or an ending of a run speaks for, and how strongly.

``data/invariants.csv`` and ``data/endings.csv`` say it for every invariant and every ending of the
monitor. They were written from what each of them measures.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

Strength = Literal["direct", "circumstantial"]
"""Direct evidence says what is wrong; circumstantial evidence has other causes too."""

STRENGTHS: Final[tuple[Strength, ...]] = get_args(Strength)


@dataclass(frozen=True)
class Support:
    """What evidence of one kind speaks for."""

    strength: Strength
    causes: tuple[str, ...]


def support_of_invariant(name: str) -> Support | None:
    """What a broken invariant speaks for, or None where it is not known."""
    return supports("invariant").get(name)


def support_of_ending(name: str) -> Support | None:
    """What an ending of a run speaks for, or None where it is not known."""
    return supports("ending").get(name)


@cache
def supports(kind: Literal["invariant", "ending"]) -> dict[str, Support]:
    """What every invariant or every ending speaks for, by its id."""
    file = files("failbench.causes").joinpath(f"data/{kind}s.csv")
    return {
        row[kind]: Support(
            STRENGTHS[STRENGTHS.index(row["strength"])],
            tuple(row["causes"].split(";")),
        )
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    }
