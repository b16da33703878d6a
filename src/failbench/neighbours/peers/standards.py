"""Standards: from where on a peer, by its own documentation, stands by what it says."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Final, Literal, Self

from pydantic import model_validator

from failbench.base.records import Record

SEVERITIES: Final = ("critical", "high", "warning", "moderate", "low", "info")
"""Words of all peers, the most severe first."""


CONFIDENCE_STEP: Final = 0.05
"""Confidences of peers are multiples of it."""


class Standard(Record):
    """A peer, and how it is to be taken."""

    peer: str
    label: str
    version: str
    licence: str
    level: Literal["severity", "confidence", "rule"]
    detects_from: str
    commits_from: str
    strict_from: str
    checkable: bool
    source: str

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

    @property
    def strict(self) -> Standard:
        """The peer at its most cautious."""
        return self.taken_from(self.strict_from)

    def taken_from(self, bound: str) -> Standard:
        """The peer if its issues count from a bound on, for detection and for the category."""
        return self.model_copy(update={"detects_from": bound, "commits_from": bound})

    @property
    def bounds(self) -> tuple[str, ...]:
        """All bounds that may be tried: severities, or confidences as the peers document them."""
        if self.level == "confidence":
            return tuple(f"{step * CONFIDENCE_STEP:.2f}" for step in range(1, 20))
        return SEVERITIES if self.level == "severity" else ()


@cache
def standards() -> dict[str, Standard]:
    """All peers by their names, each as its documentation says it is to be taken."""
    text = files("failbench.neighbours.peers").joinpath("data/peers.csv").read_text("utf-8")
    return {row["peer"]: Standard(**row) for row in csv.DictReader(text.splitlines())}
