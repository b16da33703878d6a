"""Standards: from where on a peer, by its own documentation, stands by what it says."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Final, Literal, Self

from pydantic import model_validator

from failbench.records import Record

SEVERITIES: Final = ("critical", "high", "warning", "moderate", "low", "info")
"""Words of all peers, the most severe first."""


class Standard(Record):
    """A peer, and how it is to be taken.

    Attributes
    ----------
    peer
        Its name in tables.
    label
        Its name for people.
    version
        Which was run, or whose thresholds are taken.
    licence
        Under which it is published.
    level
        Whether issues count by their severity or by their confidence.
    detects_from
        The lowest severity or confidence of an issue that says that something is wrong.
    commits_from
        The lowest one of an issue whose category counts as answered.
    strict_from
        The lowest one of both if the peer is taken at its most cautious.
    source
        Where the peer says so.
    """

    peer: str
    label: str
    version: str
    licence: str
    level: Literal["severity", "confidence"]
    detects_from: str
    commits_from: str
    strict_from: str
    source: str

    @model_validator(mode="after")
    def _bounds_are_of_the_level(self) -> Self:
        for bound in (self.detects_from, self.commits_from, self.strict_from):
            if self.level == "severity" and bound not in SEVERITIES:
                raise ValueError(f"{bound!r} is no severity.")
            if self.level == "confidence":
                float(bound)
        return self

    def reaches(self, bound: str, severity: str, confidence: float | None) -> bool:
        """Whether an issue is at least as severe, or as sure, as a bound.

        Parameters
        ----------
        bound
            ``detects_from`` or ``commits_from``.
        severity
            Of the issue.
        confidence
            Of the issue, from 0 to 1.
        """
        if self.level == "severity":
            return SEVERITIES.index(severity) <= SEVERITIES.index(bound)
        return confidence is not None and confidence >= float(bound)

    @property
    def strict(self) -> Standard:
        """The peer at its most cautious."""
        bounds = {"detects_from": self.strict_from, "commits_from": self.strict_from}
        return self.model_copy(update=bounds)


@cache
def standards() -> dict[str, Standard]:
    """All peers by their names, each as its documentation says it is to be taken."""
    text = files("failbench.peers").joinpath("data/peers.csv").read_text(encoding="utf-8")
    return {row["peer"]: Standard(**row) for row in csv.DictReader(text.splitlines())}
