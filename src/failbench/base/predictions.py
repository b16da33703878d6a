"""Predictions: the columns of files of out-of-fold predictions, and the rule for answers."""

from pathlib import Path

import numpy as np
import polars as pl

from failbench.base.arrays import Labels, Probabilities
from failbench.base.errors import BadInputError
from failbench.base.stage import read_output
from failbench.base.vocabulary import CATEGORIES

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

``reason`` is null except for abstentions, ``route`` except for hybrids, and ``conditions`` for
methods without conditions to check; see :class:`failbench.base.verdicts.Diagnosis`.
"""

DECIMALS = 6
"""Decimals of stored probabilities, from which answers are taken."""


def most_probable(probabilities: Probabilities) -> Labels:
    """The category with the largest rounded probability; the first of ``CATEGORIES`` among equals.

    Answers thus follow from the stored probabilities, and rounding between processors decides none.

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


SPLIT_SCHEMA = pl.Schema({"repeat": pl.Int32, "fold": pl.Int32, "scenario": pl.String})


def read_splits() -> pl.DataFrame:
    """The folds of scenarios that all studies share."""
    return read_output(Path("data/features/splits.parquet"), SPLIT_SCHEMA)


def first_repeats(splits: pl.DataFrame, wanted: int, key: str) -> pl.DataFrame:
    """The folds of the first repeats, as many as are wanted."""
    available = splits["repeat"].n_unique()
    if available < wanted:
        problem = f"{wanted} are wanted, and the splits have {available}."
        raise BadInputError("params.yaml", key, problem, "Take fewer, or raise features.repeats.")
    return splits.filter(pl.col("repeat") < wanted)


NEIGHBOUR_SCHEMA = pl.Schema(
    {
        "scenario": pl.String,
        "rank": pl.Int32,
        "neighbour": pl.String,
        "neighbour_category": pl.String,
        "distance": pl.Float64,
    }
)


RUN_KEY = ("study", "feature_set", "repeat", "fold", "run_id")
