"""Leak test of the harness: whether anything of the tested runs reaches the training."""

from __future__ import annotations

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.classifiers import DecisionTreeSettings
from failbench.prediction.nested_cv import nested_cv
from failbench.records import Record
from failbench.vocabulary import CATEGORIES

PLANTED = "planted"
SETTINGS = DecisionTreeSettings(inner_folds=3, max_depth=(4,), min_samples_leaf=(1,))
"""Deep enough to part five labels by one column, and too shallow to memorise every training run: a
tree that has memorised the tested runs answers right with either column, and would hide a leak."""


class LeakTest(Record):
    """What planting the labels changed.

    Attributes
    ----------
    identical_predictions
        Whether a column with the labels of the tested runs only (constant in training) gives the
        same bytes as a constant column: the harness then keeps tested rows out of the training.
    positive_control_accuracy
        Accuracy with the labels in all rows and no other column to choose; near one, or planted
        columns are not even read and the first answer means nothing.
    """

    identical_predictions: bool
    positive_control_accuracy: float


def leak_test(
    failures: pl.DataFrame, successes: pl.DataFrame, splits: pl.DataFrame, seed: int
) -> LeakTest:
    """Run the nested cross-validation itself with planted columns, over the folds of ``splits``."""
    codes = pl.col("category").replace_strict(
        {category: index + 1 for index, category in enumerate(CATEGORIES)}, return_dtype=pl.Float64
    )
    beside_features = (*FEATURE_SETS["19"], PLANTED)

    def predictions(
        table: pl.DataFrame, folds: pl.DataFrame, columns: tuple[str, ...] = beside_features
    ) -> pl.DataFrame:
        sets = {PLANTED: columns}
        return nested_cv(table, successes, folds, "decision_tree", SETTINGS, sets, seed)

    identical = True
    for (repeat, fold), part in splits.group_by("repeat", "fold", maintain_order=True):
        one = splits.filter(pl.col("repeat") == repeat, pl.col("fold") == fold)
        tested = pl.col("scenario").is_in(part["scenario"].implode())
        constant = predictions(failures.with_columns(pl.lit(0.0).alias(PLANTED)), one)
        labelled = predictions(
            failures.with_columns(pl.when(tested).then(codes).otherwise(0.0).alias(PLANTED)), one
        )
        identical = identical and constant.equals(labelled)
    known = predictions(failures.with_columns(codes.alias(PLANTED)), splits, (PLANTED,))
    right = known["prediction"] == known["category"]
    return LeakTest(
        identical_predictions=identical, positive_control_accuracy=float(right.to_numpy().mean())
    )
