"""Removal: what a forest loses that never had the error text, which replacing it does not say."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from failbench.methods.reduced_tree import ERROR_TEXT_SIGNAL
from failbench.methods.signal_groups import ALL_GROUPS
from failbench.predictions import PREDICTION_SCHEMA

WITH_ERROR_TEXT = "19+keywords"
"""The feature set of the ablation that has the error text."""


@dataclass(frozen=True)
class Removal:
    """What a forest loses that never had the error text."""

    change: float
    repeats: int


ABLATION_SCHEMA = pl.Schema([*PREDICTION_SCHEMA.items(), ("subset", pl.String())])
"""What is read of the forest's predictions in the ablation."""


def removal(ablation: pl.DataFrame) -> Removal:
    """What taking the error text away and fitting again costs a forest."""
    with_text = ablation.filter(pl.col("feature_set") == WITH_ERROR_TEXT)
    right = (pl.col("prediction") == pl.col("category")).cast(pl.Float64).mean()
    accuracies = dict(
        with_text.group_by("subset", "scenario")
        .agg(right=right)
        .group_by("subset")
        .agg(pl.col("right").mean())
        .iter_rows()
    )
    change = accuracies[f"without_{ERROR_TEXT_SIGNAL}"] - accuracies[ALL_GROUPS]
    return Removal(change, with_text["repeat"].n_unique())
