"""What a method says of a failed run, and on what evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from failbench.vocabulary import Answer, Reason, Route


@dataclass(frozen=True)
class Evidence:
    """One signal that a diagnosis rests on.

    Attributes
    ----------
    signal
        A feature, or ``error_text``.
    value
        What was seen: a number (NaN where it is missing), or the words that matched (none: empty).
    relation
        ``above`` or ``below`` a threshold, or ``matches`` a pattern.
    threshold
        The number or the pattern that the value was held against.
    """

    signal: str
    value: float | str
    relation: Literal["above", "below", "matches"]
    threshold: float | str


@dataclass(frozen=True)
class Diagnosis:
    """The cause that a method names, and why.

    Attributes
    ----------
    category
        The cause, or ``"abstain"``.
    confidence
        How sure the method is, from 0 to 1; of an abstention, what was not enough to act on.
    evidence
        The signals that the answer rests on.
    conditions
        How many conditions a reader must check to verify the answer (Freitas, 2014, "Comprehensible
        classification models", takes the conditions on the path for trees and rules; what each
        method counts is said where it is built). None where there is nothing to read.
    reason
        Why the method abstained.
    route
        Who answered, in a method that hands runs on.
    """

    category: Answer
    confidence: float
    evidence: tuple[Evidence, ...] = ()
    conditions: int | None = None
    reason: Reason | None = None
    route: Route | None = None
