"""Out-of-fold predictions by methods that read raw telemetry, under the splits of all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.features.raw_table import RAW_SERIES, RAW_TEXT
from failbench.methods.raw.telemetry import DECLARATIONS, RawTelemetrySettings
from failbench.prediction.fold_plans import POOLED, FoldPlan, by_scenario
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import AcrossArchitectures
from failbench.prediction.splits import first_repeats
from failbench.predictions import PREDICTION_SCHEMA

COLUMNS = (*RAW_TEXT, *RAW_SERIES)


def raw_predictions(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: RawTelemetrySettings,
    seed: int,
    workers: int = 1,
    plans: Sequence[FoldPlan] | None = None,
    feature_sets: Iterable[str] = FEATURE_SETS,
) -> pl.DataFrame:
    """Predict every run by a method that reads no feature."""
    first, *others = feature_sets
    predictions = nested_cv(
        failures,
        successes,
        splits,
        DECLARATIONS[method],
        settings,
        {first: COLUMNS},
        seed,
        workers,
        plans,
    )
    copies = (predictions.with_columns(feature_set=pl.lit(name)) for name in others)
    return pl.concat([predictions, *copies]).sort(PREDICTION_SCHEMA.names()[:6])


def pooled_raw_predictions(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: RawTelemetrySettings,
    study: AcrossArchitectures,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict the runs of all architectures and seeds by fits to all of them.

    Methods without features are thought to need more runs than others; this study has several times
    as many, though of no more scenarios. The fits that leave an architecture out are not made: they
    are eight times as many, and what they ask is another question.
    """
    of_study = (pl.col("optimizer") == study.optimizer, pl.col("scale") == study.scale)
    folds = first_repeats(splits, study.repeats, "across_architectures.repeats")
    return raw_predictions(
        failures.filter(*of_study),
        successes.filter(*of_study),
        folds,
        method,
        settings,
        study.seed,
        workers,
        by_scenario(POOLED, folds),
        study.feature_sets,
    )
