"""Best thresholds: each peer with that choice which does best on other scenarios.

Thresholds of peers were not made for these models. So each is given, fold by fold, the factor of
all its thresholds, or the bound from which its verdicts count, that did best on the scenarios of
the other folds and on their twins, and is judged on those of the fold.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
import polars as pl

from failbench.base.errors import BadInputError

DOCUMENTED: Final = "documented"
"""Thresholds and bounds as a peer documents them."""

Objective = Literal["best_detection", "best_category"]
"""What the choice maximises: failing runs detected less twins alarmed, or categories right."""
OBJECTIVES: Final[tuple[Objective, ...]] = get_args(Objective)


def with_best_thresholds(
    said: pl.DataFrame, runs: pl.DataFrame, splits: pl.DataFrame, objective: Objective
) -> pl.DataFrame:
    """What each peer says of the scenarios of each fold, by the choice that the others prefer.

    Of choices that do as well the one that stands first counts: as documented, then in the order of
    ``said``.
    """
    known = runs.select("run_id", "kind", "scenario", "category")
    lacking = set(known["scenario"].drop_nulls()) - set(splits["scenario"])
    if lacking:
        problem = f"{min(lacking)!r} is tested in no fold."
        remedy = "Make the folds from the scenarios that were recorded."
        raise BadInputError("data/features/splits.parquet", "scenario", problem, remedy)
    parts = []
    for (_,), of_method in said.group_by("method", maintain_order=True):
        table = of_method.join(known, on="run_id", maintain_order="left")
        gains = _gains(table, objective)
        values = gains.drop("choice").to_numpy().astype(np.float64)
        for (repeat, fold), part in splits.group_by("repeat", "fold", maintain_order=True):
            tested = set(part["scenario"])
            training = np.array([name not in tested for name in gains.columns[1:]])
            choice = gains["choice"][int(values[:, training].mean(axis=1).round(9).argmax())]
            is_tested = pl.col("scenario").is_in(list(tested)) | (pl.col("kind") == "success")
            of_fold = table.filter(is_tested, choice=choice).select(*said.columns)
            parts.append(
                of_fold.with_columns(repeat=pl.lit(repeat, pl.Int32), fold=pl.lit(fold, pl.Int32))
            )
    return pl.concat(parts)


def _gains(table: pl.DataFrame, objective: Objective) -> pl.DataFrame:
    """What each choice gains in each scenario: a row per ``choice``, a column per scenario."""
    detected, is_failing = pl.col("detected").cast(pl.Float64), pl.col("kind") == "failure"
    is_right = (pl.col("prediction") == pl.col("category")).cast(pl.Float64)
    gain = {
        "best_detection": pl.when(is_failing).then(detected).otherwise(-detected),
        "best_category": pl.when(is_failing).then(is_right),
    }[objective]
    order = {choice: place for place, choice in enumerate(dict.fromkeys(table["choice"]))}
    order[DOCUMENTED] = -1
    return (
        table.filter(pl.col("scenario").is_not_null())
        .with_columns(gain=gain, order=pl.col("choice").replace_strict(order))
        .group_by("choice", "order", "scenario")
        .agg(pl.col("gain").mean())
        .sort("order", "scenario")
        .pivot(on="scenario", index="choice", values="gain", maintain_order=True)
    )
