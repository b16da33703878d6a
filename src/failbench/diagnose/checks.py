"""Checks: what a signal of a log must not do, each a statement about one series.

``data/checks.csv`` is the catalogue. A bound is a number where its meaning gives one, and
``fitted`` where healthy logs do (:mod:`failbench.diagnose.bounds`).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast, get_args

from failbench.causes.catalogue import causes
from failbench.causes.support import Strength

Against = Literal[
    "value",
    "log_value",
    "log_peak",
    "not_finite",
    "zero",
    "zero_inside",
    "past_difference",
    "past_ratio",
    "start_ratio",
    "new_peak",
    "faded_share",
    "since_best",
    "best_difference",
    "progress",
    "any_progress",
    "climb",
]
"""What a value is held against; see :mod:`failbench.diagnose.series`."""

Relation = Literal["above", "below"]
FITTED: Final = "fitted"


@dataclass(frozen=True)
class Check:
    """Something that a healthy log does not show."""

    id: str
    signal: str
    against: Against
    relation: Relation
    bound: float | None
    rows: int
    strength: Strength
    causes: tuple[str, ...]
    statement: str


@cache
def checks() -> dict[str, Check]:
    """The catalogue by names."""
    text = files("failbench.diagnose").joinpath("data/checks.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        named = tuple(row["causes"].split(";"))
        if unknown := set(named) - set(causes()):
            raise ValueError(f"The check {row['id']} names {min(unknown)}, which is no cause.")
        if row["against"] not in get_args(Against) or row["relation"] not in get_args(Relation):
            raise ValueError(f"The check {row['id']} compares in a way that there is not.")
        found[row["id"]] = Check(
            row["id"],
            row["signal"],
            cast("Against", row["against"]),
            cast("Relation", row["relation"]),
            None if row["bound"] == FITTED else float(row["bound"]),
            int(row["rows"]),
            cast("Strength", row["strength"]),
            named,
            row["statement"],
        )
    return found
