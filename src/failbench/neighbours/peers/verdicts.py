"""Verdicts: what others' tools said of runs, as a table, and what is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.base.replay import DENSE, AnswerTable
from failbench.base.vocabulary import Category

VERDICT_SCHEMA: Final = pl.Schema(
    {
        "run_id": pl.String(),
        "format": pl.String(),  # in which the peer was given the log
        "peer": pl.String(),
        "version": pl.String(),  # of the peer
        "rendering": pl.String(),  # digest of the files it read, to know when to ask again
        "issues": pl.List(pl.String),  # the peer's own names, most severe first
        "severities": pl.List(pl.String),  # of each issue, in the peer's words
        "confidences": pl.List(pl.Float64),  # of each issue; empty where the peer states none
        "unreadable": pl.String(),  # first line of the peer's error; null where it read the log
    }
)
"""Columns of a table of verdicts; its key is ``(run_id, format, peer)``."""

KEY: Final = ("run_id", "format", "peer")

VERDICT_TABLE: Final = AnswerTable(
    VERDICT_SCHEMA,
    KEY,
    KEY,
    ("version", "rendering"),
    "Restore it with git, or delete it and run `make record-peers`.",
    DENSE,
)


@dataclass(frozen=True)
class Reading:
    """What a peer said of one log."""

    issues: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()
    unreadable: str | None = None


@dataclass(frozen=True)
class PeerVerdict:
    """What a peer's answer comes to."""

    peer: str
    run_id: str
    format: str
    issues: tuple[str, ...]
    category: Category | None
    cause: str | None
    detected: bool
    confidence: float | None


def reading_of(row: dict[str, object]) -> Reading:
    """The reading that a row of the table holds."""
    issues, severities, confidences = row["issues"], row["severities"], row["confidences"]
    unreadable = row["unreadable"]
    assert isinstance(issues, list)
    assert isinstance(severities, list)
    assert isinstance(confidences, list)
    assert unreadable is None or isinstance(unreadable, str)
    return Reading(tuple(issues), tuple(severities), tuple(confidences), unreadable)
