"""Predictions: the columns of every file of out-of-fold predictions, and how an answer is taken."""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.arrays import Labels, Probabilities
from failbench.vocabulary import CATEGORIES

PREDICTION_SCHEMA = pl.Schema(
    {
        "study": pl.String,
        "feature_set": pl.String,
        "method": pl.String,
        "repeat": pl.Int32,
        "fold": pl.Int32,
        "run_id": pl.String,
        "scenario": pl.String,
        "category": pl.String,
        "architecture": pl.String,
        "optimizer": pl.String,
        "scale": pl.String,
        "seed": pl.Int32,
        "prediction": pl.String,
        "confidence": pl.Float64,
        "reason": pl.String,
        "route": pl.String,
        "conditions": pl.Int32,
        **{f"p_{category}": pl.Float64 for category in CATEGORIES},
    }
)
"""Columns of a predictions file; the first six are its key.

``reason`` is null but for abstentions, ``route`` but for hybrids, and ``conditions`` where a method
gives a reader nothing to check; see :class:`failbench.verdicts.Diagnosis`.
"""

DECIMALS = 6
"""Of probabilities, as they are stored and as answers are taken from them."""


def most_probable(probabilities: Probabilities) -> Labels:
    """The category with the largest rounded probability; the first of ``CATEGORIES`` among equals.

    An answer thus follows from what is stored, and what processors round differently decides none.

    Parameters
    ----------
    probabilities
        In the order of ``CATEGORIES``, ``[n_runs, n_categories]``.

    Returns
    -------
    numpy.ndarray
        A category per run.
    """
    largest = probabilities.round(DECIMALS).argmax(axis=1)
    answers: Labels = np.array(CATEGORIES, dtype=object)[largest]
    return answers
