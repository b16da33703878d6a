"""Crosswalk: every accuracy that is printed of two methods, with what it was measured under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.predictions import PREDICTION_SCHEMA
from failbench.statistics.estimates import ESTIMATE
from failbench.studies.crosswalk.conditions import CONDITIONS, METHODS, Condition

KEY_TYPES: Final = {"noise": pl.Float64(), "steps": pl.Int64(), "steps_ahead": pl.Int32()}
"""Types of key columns that hold no names."""


def points_schema(points: str) -> pl.Schema:
    """What is read of a file of points: the keys that choose rows, and the accuracy."""
    conditions = [condition for condition in CONDITIONS if condition.points == points]
    keys = {name for condition in conditions for name in condition.chosen.meta.root_names()}
    values = {condition.value for condition in conditions}
    intervals = {"ci_low", "ci_high"} if ESTIMATE[0] in values else set()
    return pl.Schema(
        {
            **_key_types({"method", *keys}),
            **dict.fromkeys(sorted(values | intervals), pl.Float64()),
            "n": pl.Int64(),
        }
    )


def predictions_schema(folder: str) -> pl.Schema:
    """What is read of a folder of predictions: their schema, and the keys that choose rows."""
    conditions = [condition for condition in CONDITIONS if condition.predictions == folder]
    keys = {name for condition in conditions for name in condition.answers.meta.root_names()}
    return pl.Schema([*PREDICTION_SCHEMA.items(), *_key_types(keys - {*PREDICTION_SCHEMA}).items()])


def _key_types(names: set[str]) -> dict[str, pl.DataType]:
    return {name: KEY_TYPES.get(name, pl.String()) for name in sorted(names)}


@dataclass(frozen=True)
class PrintedAccuracy:
    """An accuracy as it is printed, and what its predictions have."""

    method: str
    condition: Condition
    value: float
    ci_low: float | None
    ci_high: float | None
    n: int
    folds: int
    repeats: int
    seeds: int
    runs: int


def printed_accuracies(
    points: Mapping[str, pl.DataFrame], predictions: Mapping[tuple[str, str], pl.DataFrame]
) -> tuple[PrintedAccuracy, ...]:
    """Every accuracy of the two methods, by method and condition."""
    return tuple(
        _printed(method, condition, points[condition.points], predictions)
        for method in METHODS
        for condition in CONDITIONS
        if method in condition.methods
    )


def _printed(
    method: str,
    condition: Condition,
    points: pl.DataFrame,
    predictions: Mapping[tuple[str, str], pl.DataFrame],
) -> PrintedAccuracy:
    matches = points.filter(condition.chosen, pl.col("method") == method)
    answers = predictions[condition.predictions, method].filter(condition.answers)
    if matches.height != 1 or answers.is_empty():
        raise BadInputError(
            f"data/plots/{condition.points}.csv",
            "metric",
            f"has {matches.height} accuracies of {method} for {condition.study}, and there are "
            f"{answers.height} predictions.",
            f"Run `dvc repro {condition.points}`.",
        )
    row = matches.row(0, named=True)
    has_interval = condition.value == ESTIMATE[0]
    return PrintedAccuracy(
        method,
        condition,
        row[condition.value],
        row["ci_low"] if has_interval else None,
        row["ci_high"] if has_interval else None,
        int(row["n"]),
        # folds are numbered anew in each repeat
        answers.filter(pl.col("repeat") == pl.col("repeat").min())["fold"].n_unique(),
        answers["repeat"].n_unique(),
        answers["seed"].n_unique(),
        answers["run_id"].n_unique(),
    )
