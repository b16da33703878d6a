"""Nested cross-validation: out-of-fold predictions of one method, saved once for every reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl

from failbench.evaluation.splits import rows_in_fold
from failbench.evaluation.workers import parallel_map
from failbench.feature_table import to_frame
from failbench.methods.diagnosis import Diagnosis, Labels
from failbench.methods.healthy_band import HealthyBand, healthy_band
from failbench.methods.registry import Context, band_features, method_named
from failbench.scenarios import CATEGORIES, Record

STUDY = "nested_cv"
DECIMALS = 6

PREDICTION_SCHEMA = pl.Schema(
    {
        "study": pl.String,
        "feature_set": pl.String,
        "method": pl.String,
        "repeat": pl.Int32,
        "fold": pl.Int32,
        "run_id": pl.String,
        "scenario": pl.String,
        "category": pl.String,
        "architecture": pl.String,
        "optimizer": pl.String,
        "scale": pl.String,
        "seed": pl.Int32,
        "prediction": pl.String,
        "confidence": pl.Float64,
        "reason": pl.String,
        "route": pl.String,
        "conditions": pl.Int32,
        **{f"p_{category}": pl.Float64 for category in CATEGORIES},
    }
)
"""Columns of a predictions file; the first six are its key.

``reason`` is null but for abstentions, ``route`` but for hybrids, and ``conditions`` where a method
gives a reader nothing to check; see :class:`failbench.methods.diagnosis.Diagnosis`.
"""


@dataclass(frozen=True)
class LabelledRuns:
    """Failing runs with what is known of them: four parallel views, one row a run."""

    table: pl.DataFrame
    frame: pd.DataFrame
    labels: Labels
    groups: Labels

    @classmethod
    def from_table(cls, table: pl.DataFrame) -> LabelledRuns:
        """Take a feature table of failing runs apart."""
        ordered = table.sort("run_id")
        return cls(
            ordered,
            to_frame(ordered),
            ordered["category"].to_numpy().astype(object),
            ordered["scenario"].to_numpy().astype(object),
        )


def nested_cv(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    feature_sets: Mapping[str, tuple[str, ...]],
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """Predict every run in the fold that tests its scenario, in every repeat.

    Parameters
    ----------
    failures
        Feature table of the failing runs of the study.
    successes
        Feature table of successful runs, from which thresholds are taken. They have no scenario
        and so are never tested on.
    splits
        Repeats and folds to run; a scenario that a fold does not test is trained on.
    method, settings
        Name in ``methods.registry.METHODS`` and its settings.
    feature_sets
        Columns by name of feature set; all are run.
    seed
        With repeat and fold it gives the seed of each fit, whatever the number of workers.

    Returns
    -------
    polars.DataFrame
        Rows of ``PREDICTION_SCHEMA``, sorted by its key; probabilities have six decimals.
    """
    runs = LabelledRuns.from_table(failures)
    band = healthy_band(to_frame(successes), band_features())
    folds = splits.select("repeat", "fold").unique().sort("repeat", "fold").rows()
    tasks = [
        (runs, band, splits, method, settings, name, tuple(columns), seed, repeat, fold)
        for name, columns in feature_sets.items()
        for repeat, fold in folds
    ]
    parts = parallel_map(_predict_fold, tasks, workers)
    return pl.concat(parts).sort(PREDICTION_SCHEMA.names()[:6])


def _predict_fold(
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    method: str,
    settings: Record,
    feature_set: str,
    columns: tuple[str, ...],
    seed: int,
    repeat: int,
    fold: int,
) -> pl.DataFrame:
    tested = rows_in_fold(splits, runs.groups, repeat, fold)
    declaration = method_named(method)
    key = dict(zip(runs.frame.index[tested], runs.labels[tested], strict=True))
    context = Context(
        columns, band, fold_seed(seed, repeat, fold), key if declaration.simulation else {}
    )
    estimator = declaration.build(settings, context)
    estimator.fit(runs.frame[~tested], runs.labels[~tested], groups=runs.groups[~tested])
    diagnoses = estimator.diagnose(runs.frame[tested])
    probabilities = estimator.predict_proba(runs.frame[tested])
    return (
        runs.table.filter(pl.Series(tested))
        .with_columns(
            study=pl.lit(STUDY),
            feature_set=pl.lit(feature_set),
            method=pl.lit(method),
            repeat=pl.lit(repeat),
            fold=pl.lit(fold),
            prediction=_column(diagnoses, "category", pl.String()),
            confidence=_column(diagnoses, "confidence", pl.Float64()).round(DECIMALS),
            reason=_column(diagnoses, "reason", pl.String()),
            route=_column(diagnoses, "route", pl.String()),
            conditions=_column(diagnoses, "conditions", pl.Int32()),
            **{
                f"p_{category}": pl.Series(probabilities[:, position]).round(DECIMALS)
                for position, category in enumerate(CATEGORIES)
            },
        )
        .select(PREDICTION_SCHEMA.names())
        .cast(PREDICTION_SCHEMA)
    )


def _column(diagnoses: tuple[Diagnosis, ...], name: str, dtype: pl.DataType) -> pl.Series:
    return pl.Series(name, [getattr(one, name) for one in diagnoses], dtype=dtype)


def fold_seed(seed: int, repeat: int, fold: int) -> int:
    """Seed of one fit, a function of the study's seed, the repeat and the fold alone."""
    return int(np.random.SeedSequence([seed, repeat, fold]).generate_state(1)[0])
