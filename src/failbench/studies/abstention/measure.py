"""Abstention, measured: what the improved rules answer on the training side of every fold."""

from __future__ import annotations

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.fold_plans import by_tested_fold, within_training
from failbench.prediction.nested_cv import nested_cv
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.abstention.settings import RULES

INNER = "within_training"
"""The study that these predictions belong to."""


def measure(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    rules: ImprovedRulesSettings,
    feature_set: str,
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict the scenarios that each fold trains on, by fits to the other folds of its training.

    Parameters
    ----------
    failures, successes
        Feature tables of the main study's runs.
    splits
        Its repeats and folds.
    rules
        Settings of the improved rules.
    feature_set
        Name of the columns that they read.
    seed
        Of the main study's fits.
    workers
        Processes; the result does not depend on it.

    Returns
    -------
    polars.DataFrame
        Rows of ``predictions.PREDICTION_SCHEMA``, sorted by its key. ``fold`` is the fold that has
        the run on its training side: the fit saw neither the scenario of the run nor any that this
        fold tests, so that nothing of what is tested has a part in what is chosen from these rows.
    """
    pairs = nested_cv(
        failures,
        successes,
        splits,
        RULES,
        rules,
        {feature_set: FEATURE_SETS[feature_set]},
        seed,
        workers,
        within_training(INNER, splits),
    )
    predictions = by_tested_fold(pairs, splits)
    return predictions.cast(PREDICTION_SCHEMA).sort(PREDICTION_SCHEMA.names()[:6])
