"""Diagnoses: the answer of a method to a failed run, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from failbench.base.vocabulary import Answer, Reason, Route

Side = Literal["above", "below"]


OPPOSITE: dict[Side, Side] = {"above": "below", "below": "above"}

SIGNS: dict[Side, str] = {"above": ">", "below": "<="}


@dataclass(frozen=True)
class Evidence:
    """One signal: a number or words, and the threshold or pattern that it is held against."""

    signal: str
    value: float | str
    relation: Literal["above", "below", "matches"]
    threshold: float | str


@dataclass(frozen=True)
class Diagnosis:
    """The cause that a method names, with its evidence.

    Attributes
    ----------
    category
        The cause, or ``"abstain"``.
    confidence
        Confidence of the method, from 0 to 1; abstentions have one too.
    evidence
        The signals that support the answer.
    conditions
        Number of conditions that a reader must check to verify the answer (Freitas, 2014,
        "Comprehensible classification models", counts the conditions on the path for trees and
        rules; the modules of the methods define their counts). None without conditions.
    reason
        The reason for an abstention.
    route
        The member of a hybrid that answered.
    """

    category: Answer
    confidence: float
    evidence: tuple[Evidence, ...] = ()
    conditions: int | None = None
    reason: Reason | None = None
    route: Route | None = None
