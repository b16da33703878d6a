"""Out-of-fold predictions by methods that read raw telemetry, under the splits of all others."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from failbench.evaluation.fold_plans import FoldPlan
from failbench.evaluation.nested_cv import PREDICTION_SCHEMA, nested_cv
from failbench.features import FEATURE_SETS
from failbench.methods.raw_telemetry import RAW_METHODS, RawTelemetrySettings
from failbench.raw_table import RAW_SERIES, RAW_TEXT

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
) -> pl.DataFrame:
    """Predict every run by a method that reads no feature.

    Parameters
    ----------
    failures
        The raw table of the failing runs of the study.
    successes
        Feature table of successful runs. No method here takes a threshold from it.
    method, settings
        Name in ``methods.raw_telemetry.RAW_METHODS`` and its settings.
    splits, seed, workers, plans
        As for :func:`failbench.evaluation.nested_cv.nested_cv`.

    Returns
    -------
    polars.DataFrame
        Rows of ``nested_cv.PREDICTION_SCHEMA``, sorted by its key. Feature sets make no difference
        to what is predicted, so that each run is predicted once and stands under all of them, as
        the rows of the rules do.
    """
    first, *others = FEATURE_SETS
    found = nested_cv(
        failures,
        successes,
        splits,
        RAW_METHODS[method],
        settings,
        {first: COLUMNS},
        seed,
        workers,
        plans,
    )
    copies = (found.with_columns(feature_set=pl.lit(name)) for name in others)
    return pl.concat([found, *copies]).sort(PREDICTION_SCHEMA.names()[:6])
