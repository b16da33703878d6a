"""Planted labels: what the nested cross-validation predicts with labels among its columns."""

from __future__ import annotations

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.classifiers import DecisionTreeSettings
from failbench.prediction.fold_plans import by_scenario
from failbench.prediction.nested_cv import nested_cv
from failbench.predictions import PREDICTION_SCHEMA
from failbench.studies.controls.settings import ALL_LABELS, CONTROLS, NOTHING, TESTED_LABELS
from failbench.vocabulary import CATEGORIES

PLANTED = "planted"
TREE = "decision_tree"
SETTINGS = DecisionTreeSettings(inner_folds=3, max_depth=(4,), min_samples_leaf=(1,))
"""Deep enough to part five labels by one column, and too shallow to memorise every training run: a
tree that has memorised the tested runs answers right with either column, and would hide a leak."""


def planted_predictions(
    failures: pl.DataFrame, successes: pl.DataFrame, splits: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Run the nested cross-validation itself with planted columns, over the folds of ``splits``."""
    codes = pl.col("category").replace_strict(
        {category: index + 1 for index, category in enumerate(CATEGORIES)}, return_dtype=pl.Float64
    )
    beside_features = (*FEATURE_SETS["19"], PLANTED)

    def predictions(
        column: pl.Expr, folds: pl.DataFrame, columns: tuple[str, ...] = beside_features
    ) -> pl.DataFrame:
        return nested_cv(
            failures.with_columns(column.alias(PLANTED)),
            successes,
            folds,
            TREE,
            SETTINGS,
            {PLANTED: columns},
            seed,
            plans=by_scenario(CONTROLS, folds),
        )

    def of_tested(folds: pl.DataFrame) -> pl.Expr:
        tested = pl.col("scenario").is_in(folds["scenario"].implode())
        return pl.when(tested).then(codes).otherwise(0.0)

    labelled = [
        predictions(of_tested(fold), fold)
        for _, fold in splits.group_by("repeat", "fold", maintain_order=True)
    ]
    planted = {
        NOTHING: predictions(pl.lit(0.0), splits),
        TESTED_LABELS: pl.concat(labelled).sort(PREDICTION_SCHEMA.names()[:6]),
        ALL_LABELS: predictions(codes, splits, (PLANTED,)),
    }
    return pl.concat(
        answers.with_columns(pl.lit(what).alias(PLANTED)) for what, answers in planted.items()
    )
