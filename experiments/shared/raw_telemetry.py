"""Out-of-fold predictions by methods that read raw telemetry, under the splits of all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import RAW_SERIES, RAW_TEXT
from failbench.methods.raw_telemetry import DECLARATIONS, RawTelemetrySettings
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.splits import FoldPlan

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
    """Predict every run by a method that reads no feature, whatever the feature set."""
    first, *others = feature_sets
    declared, columns = DECLARATIONS[method], {first: COLUMNS}
    predictions = nested_cv(
        failures, successes, splits, declared, settings, columns, seed, workers, plans
    )
    copies = (predictions.with_columns(feature_set=pl.lit(name)) for name in others)
    return pl.concat([predictions, *copies]).sort(PREDICTION_SCHEMA.names()[:6])
