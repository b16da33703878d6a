"""Peers: from where on each stands by what it says, and what that comes to in the project's words.

``data/peers.csv`` has how each is to be taken by its documentation, ``data/mapping.csv`` every
issue. The first cause counts; where that is of two categories or none, an issue is a detection
alone. ``data/variants.csv`` has the words of ``issue/variant`` where an issue has several causes.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Final, Literal, Self

import polars as pl
from pydantic import Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.vocabulary import Category
from failbench.causes.catalogue import causes

# words of all peers, the most severe first
SEVERITIES: Final = ("critical", "high", "warning", "moderate", "low", "info")
CONFIDENCE_STEP: Final = 0.05  # confidences of peers are multiples of it
DATA: Final = "src/failbench/neighbours/peers/data"


class Standard(Record):
    """A peer, and how it is to be taken; a row of ``peers.csv``."""

    peer: str
    label: str
    version: str
    licence: str
    level: Literal["severity", "confidence", "rule"]
    detects_from: str = ""
    commits_from: str = ""
    strict_from: str = ""
    checkable: bool
    source: str = Field(min_length=1)

    @model_validator(mode="after")
    def _bounds_are_of_the_level(self) -> Self:
        for bound in (self.detects_from, self.commits_from, self.strict_from):
            if self.level == "severity" and bound not in SEVERITIES:
                raise ValueError(f"{bound!r} is no severity.")
            if self.level == "confidence":
                float(bound)
            if self.level == "rule" and bound:
                raise ValueError(f"{bound!r} bounds nothing: all alarms of rules count.")
        return self

    def reaches(self, bound: str, severity: str, confidence: float | None) -> bool:
        """Whether an issue is at least as severe, or as sure, as a bound."""
        if self.level == "rule":
            return True
        if self.level == "severity":
            return SEVERITIES.index(severity) <= SEVERITIES.index(bound)
        return confidence is not None and confidence >= float(bound)

    def taken_from(self, bound: str) -> Standard:
        """The peer if its issues count from a bound on, for detection and for the category."""
        return self.model_copy(update={"detects_from": bound, "commits_from": bound})

    @property
    def bounds(self) -> tuple[str, ...]:
        """All bounds that may be tried: severities, or confidences as the peers document them."""
        if self.level == "confidence":
            return tuple(f"{step * CONFIDENCE_STEP:.2f}" for step in range(1, 20))
        return SEVERITIES if self.level == "severity" else ()


class Meaning(Record):
    """What an issue comes to; a row of ``mapping.csv``."""

    peer: str
    issue: str
    category: Category | None = None
    cause: str | None = None
    reason: str = Field(min_length=10)

    @model_validator(mode="after")
    def _peer_and_cause_are_known(self) -> Self:
        if self.peer not in standards():
            raise ValueError(f"{self.peer!r} is no peer.")
        cause = causes().get(self.cause or "")
        if self.cause and (cause is None or cause.category != self.category):
            raise ValueError(f"{self.cause!r} is no cause of {self.category!r}.")
        return self


@cache
def rows_of(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a file of this package's data, without the cells that are empty."""
    text = files("failbench.neighbours.peers").joinpath(f"data/{name}").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple({key: value for key, value in row.items() if value} for row in rows)


@cache
def standards() -> dict[str, Standard]:
    """All peers by their names."""
    return {row["peer"]: Standard.model_validate(row) for row in rows_of("peers.csv")}


def compared_version(peer: str, package: str, remedy: str) -> str:
    """The version of an installed peer, which must be the one that is compared with."""
    standard = standards()[peer]
    try:
        found = version(package)
    except PackageNotFoundError as error:
        raise BadInputError(standard.label, "(package)", "is not installed.", remedy) from error
    if found != standard.version:
        problem = f"is {found} and must be {standard.version}."
        raise BadInputError(standard.label, "(version)", problem, remedy)
    return found


@cache
def mapping() -> dict[tuple[str, str], Meaning]:
    """What each ``(peer, issue)`` comes to."""
    meanings: dict[tuple[str, str], Meaning] = {}
    for row in rows_of("mapping.csv"):
        meaning = Meaning.model_validate(row)
        if meanings.setdefault((meaning.peer, meaning.issue), meaning) is not meaning:
            raise ValueError(f"{meaning.issue!r} of {meaning.peer} is mapped twice.")
    return meanings


def issues_of(peer: str) -> frozenset[str]:
    """Every issue that a peer can report, without variants."""
    return frozenset(issue.partition("/")[0] for known, issue in mapping() if known == peer)


def refuse_unmapped(verdicts: pl.DataFrame, place: object) -> None:
    """Refuse a table of verdicts in which a peer says what the mapping does not know."""
    for peer in verdicts["peer"].unique().sort():
        if peer not in standards():
            remedy = f"Add it to {DATA}/peers.csv."
            raise BadInputError(place, "peer", f"{peer!r} is no peer.", remedy)
    said = verdicts.explode("issues").select("peer", "issues").unique().sort("peer", "issues")
    for peer, issue in said.drop_nulls().iter_rows():
        if (peer, issue) not in mapping():
            problem = f"{peer} says {issue!r}, which has no mapping."
            remedy = f"Add it to {DATA}/mapping.csv, with a reason."
            raise BadInputError(place, "issues", problem, remedy)


def with_variant(peer: str, issue: str, first_cause: str) -> str:
    """An issue with the variant that its first cause is, if it has variants."""
    for row in rows_of("variants.csv"):
        is_of = (row["peer"], row["issue"]) == (peer, issue)
        if is_of and re.search(row["leads_with"], first_cause):
            return f"{issue}/{row['variant']}"
    return issue
