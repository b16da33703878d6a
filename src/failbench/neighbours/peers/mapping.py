"""Mapping: what each issue that a peer can report comes to in the project's words.

``data/mapping.csv`` lists every issue, those too that no run of the benchmark brings about; of
peers that are taken as rules those of the rules that apply. Where a peer gives several causes in an
order, the first one counts; where the first one names causes of two categories in one sentence, the
issue is a detection without a category, and so it is where the peer says what is wrong and no
cause. Exploding and vanishing gradients and overfitting are named as causes. ``data/variants.csv``
says by which words a first cause is known where an issue has several: such an issue is written
``issue/variant``.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.causes.catalogue import causes
from failbench.neighbours.peers.standards import standards


@dataclass(frozen=True)
class Meant:
    """What an issue comes to."""

    category: Category | None
    cause: str | None
    reason: str


@cache
def mapping() -> dict[tuple[str, str], Meant]:
    """What each ``(peer, issue)`` comes to."""
    meant: dict[tuple[str, str], Meant] = {}
    for row in _rows("mapping.csv"):
        key = (row["peer"], row["issue"])
        if key in meant:
            raise ValueError(f"{key} is mapped twice.")
        if row["peer"] not in standards():
            raise ValueError(f"{row['peer']!r} is no peer.")
        meant[key] = Meant(_category(row), row["cause"] or None, row["reason"])
    return meant


def _category(row: dict[str, str]) -> Category | None:
    """The category of a row, after checking that its cause is of that category."""
    category = next((name for name in CATEGORIES if name == row["category"]), None)
    if category is None and row["category"]:
        raise ValueError(f"{row['category']!r} is no category.")
    if row["cause"]:
        cause = causes().get(row["cause"])
        if cause is None or cause.category != category:
            raise ValueError(f"{row['cause']!r} is no cause of {row['category']!r}.")
    return category


def issues_of(peer: str) -> frozenset[str]:
    """Every issue that a peer can report, without variants."""
    return frozenset(issue.partition("/")[0] for known, issue in mapping() if known == peer)


def refuse_unmapped(verdicts: pl.DataFrame, place: object) -> None:
    """Refuse a table of verdicts in which a peer says what the mapping does not know."""
    for peer in verdicts["peer"].unique().sort():
        if peer not in standards():
            remedy = "Add it to src/failbench/neighbours/peers/data/peers.csv."
            raise BadInputError(place, "peer", f"{peer!r} is no peer.", remedy)
        said = verdicts.filter(peer=peer)["issues"].explode().drop_nulls().unique().sort()
        for issue in said:
            if (peer, issue) not in mapping():
                raise BadInputError(
                    place,
                    "issues",
                    f"{peer} says {issue!r}, which has no mapping.",
                    "Add it to src/failbench/neighbours/peers/data/mapping.csv, with a reason.",
                )


def with_variant(peer: str, issue: str, first_cause: str) -> str:
    """An issue with the variant that its first cause is, if it has variants."""
    for row in _rows("variants.csv"):
        if (row["peer"], row["issue"]) == (peer, issue) and re.search(
            row["leads_with"], first_cause
        ):
            return f"{issue}/{row['variant']}"
    return issue


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = files("failbench.neighbours.peers").joinpath(f"data/{name}").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
