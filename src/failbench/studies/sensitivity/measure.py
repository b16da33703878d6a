"""Sensitivity, measured: what methods answer with a choice of the main study made otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.boosting_machine import EbmSettings
from failbench.prediction.fold_plans import by_scenario
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import first_repeats, make_splits
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.studies.sensitivity.settings import (
    FAULTS_APART,
    FEATURE_SET,
    INTERACTIONS,
    SensitivitySettings,
)


def measure(
    features: pl.DataFrame,
    splits: pl.DataFrame,
    scenarios: tuple[Scenario, ...],
    methods: Mapping[str, Record],
    study: ReferenceStudy,
    settings: SensitivitySettings,
    workers: int = 1,
) -> dict[str, pl.DataFrame]:
    """Predict with each choice made the other way.

    Parameters
    ----------
    features, splits
        As the main study takes them.
    scenarios
        From which the fault of each scenario is known.
    methods
        Settings of the methods to fit, by name; ``ebm`` is fitted with interactions, all others
        with faults apart.
    study, settings
        Which runs, and which variants.
    workers
        Processes; results do not depend on it.

    Returns
    -------
    dict of str to polars.DataFrame
        By method: rows of ``predictions.PREDICTION_SCHEMA``, whose ``study`` is the variant.

    Raises
    ------
    BadInputError
        If the main study has fewer repeats than a variant wants.
    """
    failures, successes = study.failures(features), study.successes(features)
    apart = splits_by_fault(failures, splits, scenarios, settings.repeats, study.seed)
    predictions = {}
    for method, declared in methods.items():
        variant, folds, fitted = FAULTS_APART, apart, declared
        if isinstance(declared, EbmSettings):
            variant = INTERACTIONS
            folds = first_repeats(
                splits, settings.interaction_repeats, "sensitivity.interaction_repeats"
            )
            fitted = declared.model_copy(update={"interactions": settings.interactions})
        predictions[method] = nested_cv(
            failures,
            successes,
            folds,
            method,
            fitted,
            {FEATURE_SET: FEATURE_SETS[FEATURE_SET]},
            study.seed,
            workers,
            by_scenario(variant, folds),
        )
    return predictions


def splits_by_fault(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    scenarios: tuple[Scenario, ...],
    repeats: int,
    seed: int,
) -> pl.DataFrame:
    """As many folds as the splits have, with the scenarios of one fault in one fold.

    Parameters
    ----------
    failures
        Feature table of the failing runs of the study.
    splits
        Those of the main study.
    scenarios
        From which the fault of each scenario is known.
    repeats, seed
        See :func:`failbench.prediction.splits.make_splits`.
    """
    faults = pl.DataFrame(
        {
            "scenario": [scenario.id for scenario in scenarios],
            "fault": [scenario.fault.name for scenario in scenarios],
        }
    )
    return make_splits(
        failures.select("scenario", "category").unique().join(faults, on="scenario"),
        splits["fold"].n_unique(),
        repeats,
        seed,
        group="fault",
    )
