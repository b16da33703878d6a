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
    """Predict the scenarios that each fold trains on, by inner fits to its other folds."""
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
