"""Measurement of unknown scenarios: a forest with more to go by or less, and look-alikes."""

from __future__ import annotations

import polars as pl

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.measurements import measurements
from failbench.methods.classifiers import RandomForestSettings
from failbench.partners import partners
from failbench.prediction.neighbours import nearest_scenarios
from failbench.prediction.nested_cv import nested_cv
from failbench.prediction.slices import ReferenceStudy
from failbench.prediction.splits import first_repeats
from failbench.studies.unknown_anatomy.feature_sets import BASE, MEASURED_SETS
from failbench.studies.unknown_anatomy.measurements import Measurements
from failbench.studies.unknown_anatomy.settings import UNKNOWN, UnknownAnatomyDesign
from failbench.telemetry import Telemetry

STUDY = "unknown_anatomy"
METHOD = "random_forest"


def measure(
    telemetry: Telemetry,
    features: pl.DataFrame,
    splits: pl.DataFrame,
    reference: ReferenceStudy,
    settings: UnknownAnatomyDesign,
    workers: int = 1,
) -> Measurements:
    """Fit a forest to more features and to fewer, and look for what unknown scenarios look like."""
    measured = measurements(telemetry)
    failures = with_measurements(reference.failures(features), measured)
    successes = with_measurements(reference.successes(features), measured)
    predictions = refit(
        failures,
        successes,
        splits,
        settings.forest,
        settings.repeats,
        reference.seed,
        workers,
    )
    unknown = failures.filter(pl.col("category") == UNKNOWN)["scenario"]
    nearest = nearest_scenarios(failures, FEATURE_SETS[BASE], settings.neighbours, labelled=True)
    surfaces = telemetry.runs.join(failures.select("run_id", "category"), on="run_id")
    return Measurements(
        predictions,
        nearest.filter(pl.col("scenario").is_in(unknown.implode())),
        partners(surfaces),
    )


def with_measurements(features: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """A feature table with the measurements of its runs."""
    missing = features.join(measured, on="run_id", how="anti").sort("run_id")
    if missing.height:
        raise BadInputError(
            "telemetry",
            "run_id",
            f"{missing['run_id'][0]!r} has features and is not recorded.",
            "Run `dvc repro features`.",
        )
    return features.join(measured, on="run_id", how="left", maintain_order="left")


def refit(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    forest: RandomForestSettings,
    repeats: int,
    seed: int,
    workers: int,
) -> pl.DataFrame:
    """Predict all scenarios by a forest on the features with and without each measurement.

    The folds are those of the main study, and so is the seed of each fit.
    """
    taken = first_repeats(splits, repeats, f"{STUDY}.repeats")
    predictions = nested_cv(
        failures, successes, taken, METHOD, forest, MEASURED_SETS, seed, workers
    )
    return predictions.with_columns(study=pl.lit(STUDY))
