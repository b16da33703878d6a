"""Method: the interface of every diagnostic method."""

from __future__ import annotations

from typing import Protocol, Self

import pandas as pd

from failbench.base.arrays import Labels, Probabilities
from failbench.base.verdicts import Diagnosis


class Method(Protocol):
    """A scikit-learn estimator over a frame of features and error text, indexed by run_id.

    The columns of ``predict_proba`` are in the order of ``vocabulary.CATEGORIES``.
    """

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Learn from labelled runs; ``groups`` are their scenarios."""
        ...

    def predict(self, X: pd.DataFrame) -> Labels:
        """The category of each run, or ``"abstain"``."""
        ...

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """Probabilities of shape ``[n_runs, n_categories]``."""
        ...

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The answer to each run, equal to that of ``predict``, with its evidence."""
        ...
