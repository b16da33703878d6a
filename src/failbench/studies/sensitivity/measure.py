"""Sensitivity, measured: what methods answer with a choice of the main study made otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
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
    ONE_SEED,
    VARIANTS,
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
    """Predict with each choice made the other way."""
    failures, successes = study.failures(features), study.successes(features)
    of_seed = _of_seed(study, settings.run_seed).failures(features)
    first = first_repeats(splits, settings.repeats, "sensitivity.repeats")
    few = first_repeats(splits, settings.interaction_repeats, "sensitivity.interaction_repeats")
    apart = splits_by_fault(failures, splits, scenarios, settings.repeats, study.seed)
    inputs = {
        ONE_SEED: (of_seed, first),
        FAULTS_APART: (failures, apart),
        INTERACTIONS: (failures, few),
    }
    predictions: dict[str, list[pl.DataFrame]] = {method: [] for method in methods}
    for variant in VARIANTS:
        runs, folds = inputs[variant.name]
        for method in [name for name in variant.methods if name in methods]:
            fitted = methods[method]
            if variant.name == INTERACTIONS:
                fitted = fitted.model_copy(update={"interactions": settings.interactions})
            answers = nested_cv(
                runs,
                successes,
                folds,
                method,
                fitted,
                {FEATURE_SET: FEATURE_SETS[FEATURE_SET]},
                study.seed,
                workers,
                by_scenario(variant.name, folds),
            )
            predictions[method].append(answers)
    return {method: pl.concat(answers) for method, answers in predictions.items()}


def _of_seed(study: ReferenceStudy, seed: int) -> ReferenceStudy:
    if seed not in study.run_seeds:
        raise BadInputError(
            "params.yaml",
            "sensitivity.run_seed",
            f"the main study has no runs of seed {seed}.",
            f"Name one of nested_cv.run_seeds: {', '.join(map(str, study.run_seeds))}.",
        )
    return study.with_seed(seed)


def splits_by_fault(
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    scenarios: tuple[Scenario, ...],
    repeats: int,
    seed: int,
) -> pl.DataFrame:
    """As many folds as the splits have, with the scenarios of one fault in one fold."""
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
