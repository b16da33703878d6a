"""Splits: which scenarios are tested in which fold, made once and shared by all methods."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold

from failbench.base.errors import BadInputError
from failbench.base.predictions import SPLIT_SCHEMA


def make_splits(
    categories: pl.DataFrame, folds: int, repeats: int, seed: int, group: str | None = None
) -> pl.DataFrame:
    """Assign each scenario to one test fold per repeat, stratified by category.

    The unit is the scenario, so that its seeds, architectures and twin move together.
    """
    table = categories.select("scenario", "category", *(() if group is None else (group,)))
    table = table.sort("scenario")
    if table["scenario"].is_duplicated().any():
        raise BadInputError(
            "scenarios", "scenario", "an id occurs twice.", "Give one row per scenario."
        )
    rarest = table["category"].value_counts().sort("count", "category").row(0, named=True)
    if rarest["count"] < folds:
        raise BadInputError(
            "scenarios",
            "category",
            f"{rarest['category']} has {rarest['count']} scenarios, fewer than {folds} folds.",
            "Use fewer folds, or record more scenarios.",
        )
    scenarios, labels = table["scenario"].to_numpy(), table["category"].to_numpy()
    if group is None:
        splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
        parts = list(splitter.split(scenarios, labels))
    else:
        splitters = [
            StratifiedGroupKFold(folds, shuffle=True, random_state=seed + repeat)
            for repeat in range(repeats)
        ]
        groups = table[group].to_numpy()
        parts = [part for each in splitters for part in each.split(scenarios, labels, groups)]
    rows = [
        pl.DataFrame(
            {"repeat": index // folds, "fold": index % folds, "scenario": scenarios[tested]},
        )
        for index, (_, tested) in enumerate(parts)
    ]
    return pl.concat(rows).cast(SPLIT_SCHEMA).sort("repeat", "fold", "scenario")


def rows_in_fold(
    splits: pl.DataFrame, scenarios: npt.NDArray[np.object_], repeat: int, fold: int
) -> npt.NDArray[np.bool_]:
    """Mask of the runs whose scenario is tested in this fold; all others are trained on."""
    tested = splits.filter(pl.col("repeat") == repeat, pl.col("fold") == fold)["scenario"]
    mask = np.isin(scenarios.astype(str), tested.to_numpy().astype(str))
    if not mask.any():
        raise BadInputError(
            "splits",
            "scenario",
            f"repeat {repeat}, fold {fold} tests none of the runs.",
            "Make the splits from the same scenarios as the features.",
        )
    return mask
