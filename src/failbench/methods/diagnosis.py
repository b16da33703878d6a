"""What a method says of a failed run, and on what evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from failbench.scenarios import Category

Answer = Category | Literal["abstain"]
Labels = npt.NDArray[np.object_]
Probabilities = npt.NDArray[np.float64]

Reason = Literal["missing", "conflict", "low_confidence"]
"""Why a method abstained."""
AnswerReason = Literal["unreadable"]
"""Why a language model counts as abstaining: what it wrote is no answer."""
Route = Literal["rules", "classifier", "human"]
"""Who answered, in a method that hands runs on."""

ABSTAIN: Answer = "abstain"


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


class Method(Protocol):
    """A scikit-learn estimator over a frame of features and error text, indexed by run_id.

    The columns of ``predict_proba`` are in the order of ``scenarios.CATEGORIES``.
    """

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Learn from labelled runs; ``groups`` are their scenarios."""
        ...

    def predict(self, X: pd.DataFrame) -> Labels:
        """Name a category a run, or ``"abstain"``."""
        ...

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """Probabilities of shape ``[n_runs, n_categories]``."""
        ...

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """Each run's answer, the same as that of ``predict``, with what it rests on."""
        ...
