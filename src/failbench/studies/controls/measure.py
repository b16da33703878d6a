"""Controls, measured: what is answered from columns that must not tell the label.

Four controls and a planted leak are answered by a small random forest, over all seeds of a slice
and folds by scenario; the same is done for labels permuted over scenarios. See
:mod:`failbench.studies.controls.results` for what each control is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from failbench.errors import BadInputError
from failbench.methods.raw.telemetry import RawTelemetrySettings
from failbench.prediction.fold_plans import by_scenario
from failbench.prediction.splits import first_repeats
from failbench.studies.controls.measurements import CONTROL_SCHEMA
from failbench.studies.controls.permutation import (
    GroupedTable,
    control_folds,
    cross_validated_answers,
    forest_seed,
    permuted_scores,
)
from failbench.studies.controls.settings import CONTROLS, PERMUTED_LABELS, ControlDesign
from failbench.studies.raw_telemetry.measure import raw_predictions
from failbench.vocabulary import CATEGORIES

FOREST = "forest"
"""The method of the controls: no method of the main study."""

RUN_COLUMNS = ("run_id", "architecture", "optimizer", "scale", "seed")


def require_categories(tables: Mapping[str, GroupedTable]) -> None:
    """Refuse controls of which one lacks a category: chance would not be one in five."""
    for control, table in tables.items():
        missing = [category for category in CATEGORIES if category not in table.categories]
        if missing:
            raise BadInputError(
                "controls",
                control,
                f"has no scenario of {missing[0]}.",
                "Record scenarios of every category; chance is one in five only then.",
            )


def control_predictions(
    tables: Mapping[str, GroupedTable], runs: pl.DataFrame, settings: ControlDesign
) -> pl.DataFrame:
    """What the forest answers for the true labels, but where only permuted ones are asked about."""
    keys = runs.select(RUN_COLUMNS)
    parts = (
        _answers(table, settings)
        .join(keys, on="run_id", how="left", maintain_order="left")
        .with_columns(control=pl.lit(control), study=pl.lit(CONTROLS), method=pl.lit(FOREST))
        for control, table in tables.items()
        if control != PERMUTED_LABELS
    )
    return pl.concat([CONTROL_SCHEMA.to_frame(), *map(_with_all_columns, parts)])


def _answers(table: GroupedTable, settings: ControlDesign) -> pl.DataFrame:
    """``run_id``, ``scenario``, ``category``, ``repeat``, ``fold`` and ``prediction``."""
    labels, seed = np.array(table.categories), forest_seed(settings.seed, 0)
    answers = cross_validated_answers(table, labels, settings.forest, seed)
    runs = pl.DataFrame(
        {
            "run_id": table.run_ids,
            "scenario": np.array(table.scenarios)[table.members],
            "category": labels[table.members],
        }
    )
    return pl.concat(
        runs.filter(tested)
        .with_columns(
            repeat=pl.lit(repeat), fold=pl.lit(fold), prediction=pl.Series(answers[repeat, tested])
        )
        .sort("run_id")
        for repeat, fold, tested in control_folds(table, labels, settings.forest, seed)
    )


def _with_all_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as ``CONTROL_SCHEMA``; a column that they lack is null."""
    absent = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in CONTROL_SCHEMA.items()
        if name not in rows.columns
    ]
    return rows.with_columns(absent).select(CONTROL_SCHEMA.names()).cast(CONTROL_SCHEMA)


def permuted_accuracies(
    tables: Mapping[str, GroupedTable], settings: ControlDesign, workers: int = 1
) -> pl.DataFrame:
    """How well the forest does with labels permuted over scenarios."""
    return pl.concat(
        pl.DataFrame(
            {
                "control": control,
                "permutation": np.arange(1, settings.permutations + 1, dtype=np.int32),
                "scenarios": len(table.scenarios),
                "balanced_accuracy": permuted_scores(
                    table, settings.forest, settings.permutations, settings.seed, workers
                ),
            }
        )
        for control, table in tables.items()
    )


def twins_predictions(
    twins: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    raw: RawTelemetrySettings,
    settings: ControlDesign,
    workers: int = 1,
) -> pl.DataFrame:
    """What the series of healthy twins tell of the category of their scenarios.

    The controls proper read columns that are the same in every fold; here the method itself is
    asked, by a fit per fold of its convolutions and its classifier. That is too slow to be repeated
    for permuted labels.
    """
    folds = first_repeats(splits, settings.repeats, "controls.repeats")
    return raw_predictions(
        twins,
        successes,
        folds,
        "raw_series",
        raw,
        settings.seed,
        workers,
        by_scenario(CONTROLS, folds),
        feature_sets=("19",),
    )
