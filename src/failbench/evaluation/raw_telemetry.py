"""Out-of-fold predictions by methods that read raw telemetry, under the splits of all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from failbench.evaluation.bootstrap import Interval
from failbench.evaluation.controls import ControlSettings, balanced_accuracy_interval
from failbench.evaluation.fold_plans import POOLED, FoldPlan, by_scenario
from failbench.evaluation.nested_cv import PREDICTION_SCHEMA, nested_cv
from failbench.evaluation.splits import first_repeats
from failbench.evaluation.studies import AcrossArchitectures
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
    feature_sets: Iterable[str] = FEATURE_SETS,
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
    feature_sets
        Names of those that the predictions stand under.

    Returns
    -------
    polars.DataFrame
        Rows of ``nested_cv.PREDICTION_SCHEMA``, sorted by its key. Feature sets make no difference
        to what is predicted, so that each run is predicted once and stands under all of them, as
        the rows of the rules do.
    """
    first, *others = feature_sets
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

    Methods without features are said to need more runs than others; this study has several times as
    many, though of no more scenarios. The fits that leave an architecture out are not made: they
    are eight times as many, and what they ask is another question.

    Parameters
    ----------
    failures, successes
        The raw table of failing runs and the feature table of successful ones, of any setting;
        those of the study's optimizer and scale are taken.
    splits, method, settings, workers
        As for :func:`raw_predictions`.
    study
        Which runs, repeats and feature sets to take.

    Returns
    -------
    polars.DataFrame
        Rows of ``nested_cv.PREDICTION_SCHEMA`` of the study ``pooled``.

    Raises
    ------
    BadInputError
        If the splits have fewer repeats than the study wants.
    """
    of_study = (pl.col("optimizer") == study.optimizer, pl.col("scale") == study.scale)
    folds = first_repeats(splits, study.repeats, "across_architectures")
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


def twins_control(
    twins: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    settings: RawTelemetrySettings,
    controls: ControlSettings,
    workers: int = 1,
) -> Interval:
    """How well the series of healthy twins tell the category of their scenarios: by chance alone.

    The controls proper read columns that are the same in every fold; here the method itself is
    asked, by a fit a fold of its convolutions and its classifier. That is too slow to be repeated
    for permuted labels, so that there is an interval and no test.

    Parameters
    ----------
    twins
        The raw table of the healthy twins, of all seeds. None of them raised anything, so that
        there is no text to read.
    successes, splits, settings, workers
        As for :func:`raw_predictions`.
    controls
        How many repeats of the folds are taken, how the interval is made, and the seed.

    Returns
    -------
    Interval
        Balanced accuracy, which is ``controls.CHANCE`` for whatever ignores the input.

    Raises
    ------
    BadInputError
        If the splits have fewer repeats than are wanted.
    """
    folds = first_repeats(splits, controls.repeats, "controls")
    found = raw_predictions(
        twins,
        successes,
        folds,
        "raw_series",
        settings,
        controls.seed,
        workers,
        feature_sets=("19",),
    )
    return balanced_accuracy_interval(found, controls)
