"""Training: methods fitted to the benchmark, to be applied to other telemetry."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.known_columns import flags_in
from failbench.base.methods import MONITOR_METHODS
from failbench.base.records import Record
from failbench.base.slices import AcrossArchitectures
from failbench.base.telemetry import read_telemetry
from failbench.diagnose.batch.catalogue import declaration_named
from failbench.features.catalogue import FEATURE_SETS, FEATURES
from failbench.features.feature_table import (
    ERROR_TEXT_COLUMNS,
    KEYS,
    RAW_SERIES,
    RAW_TEXT,
    raw_table,
    to_frame,
)
from failbench.methods.declaration import Context, Method
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
from failbench.monitor.records.verdicts import with_known
from failbench.prediction.nested_cv import LabelledRuns


def read_features(path: Path) -> pl.DataFrame:
    """Read the feature table that the stage ``features`` writes."""
    remedy = "Run `dvc repro features`, or restore it with `git checkout`."
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInputError(
            path, "(file)", "is missing or is not a parquet file.", remedy
        ) from error
    for name in (*KEYS, *ERROR_TEXT_COLUMNS, *(feature.name for feature in FEATURES)):
        if name not in table.columns:
            raise BadInputError(path, name, "the column is missing.", remedy)
    return table


def fitted_method(
    name: str,
    settings: Record,
    features: pl.DataFrame,
    study: AcrossArchitectures,
    known: pl.DataFrame | None = None,
) -> Method:
    """A method on features, fitted to every failing run of the study of all architectures.

    That study estimates the accuracy of such a method: on new scenarios of known architectures
    (pooled part), and on a new architecture (left-out part).
    """
    failures = training_failures(features, study)
    if name in MONITOR_METHODS and known is not None:
        failures = with_known(failures, known)
        _refuse_none(failures, study)
    successes = study.slice(features).filter(kind="success")
    context = Context(
        FEATURE_SETS[study.feature_sets[0]],
        healthy_band(to_frame(successes), all_band_features()),
        study.seed,
        known=flags_in(failures.columns),
    )
    return _fitted(name, settings, context, failures)


def fitted_raw_method(
    name: str, settings: Record, runs: pl.DataFrame, study: AcrossArchitectures
) -> Method:
    """A method on step series and error text, fitted to runs of :func:`raw_training_runs`.

    The study ``raw_telemetry`` fits it in this way to all but one fold of them, which estimates its
    accuracy on new scenarios of known architectures.
    """
    # No method of raw telemetry takes a threshold from healthy runs.
    context = Context((*RAW_TEXT, *RAW_SERIES), HealthyBand({}, {}), study.seed)
    return _fitted(name, settings, context, runs)


def _fitted(name: str, settings: Record, context: Context, failures: pl.DataFrame) -> Method:
    runs = LabelledRuns.from_table(failures)
    method = declaration_named(name).build(settings, context)
    return method.fit(runs.frame, runs.labels, groups=runs.groups)


def raw_training_runs(
    folder: Path, features: pl.DataFrame, study: AcrossArchitectures
) -> pl.DataFrame:
    """The raw table of the failing runs that methods on features learn from."""
    failures = training_failures(features, study).select("run_id", "category")
    chosen = pl.col("run_id").is_in(failures["run_id"].to_list())
    raw = raw_table(read_telemetry(folder).select(chosen), scenarios=())
    lacking = failures.join(raw, on="run_id", how="anti").sort("run_id")
    if lacking.height:
        raise BadInputError(
            folder / "runs.parquet",
            "run_id",
            f"{lacking['run_id'][0]!r} of the feature table is not there, and methods of raw "
            "telemetry learn from its steps.",
            "Choose methods of features, or name features of these runs.",
        )
    return raw.drop("category").join(failures, on="run_id").sort("run_id")


def training_failures(features: pl.DataFrame, study: AcrossArchitectures) -> pl.DataFrame:
    """The failing runs of the study, with their features."""
    failures = study.slice(features).filter(pl.col("kind") == "failure")
    _refuse_none(failures, study)
    return failures


def _refuse_none(failures: pl.DataFrame, study: AcrossArchitectures) -> None:
    if not failures.height:
        raise BadInputError(
            "features",
            "optimizer",
            f"no failing run of {study.optimizer} at scale {study.scale} is there to train on.",
            "Record one, or change the section across_architectures of params.yaml.",
        )
