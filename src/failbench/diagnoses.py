"""Diagnoses of many runs: methods fitted to the benchmark, applied to other telemetry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS, FEATURES
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, KEYS, feature_table, to_frame
from failbench.features.known_columns import flags_in
from failbench.files import replaced_when_whole
from failbench.methods.band_features import band_features
from failbench.methods.catalogue import MONITOR_METHODS, method_named
from failbench.methods.declaration import Context
from failbench.methods.healthy_band import healthy_band
from failbench.methods.method import Method
from failbench.monitored.known import with_known
from failbench.prediction.labelled_runs import LabelledRuns
from failbench.prediction.slices import AcrossArchitectures
from failbench.records import Record
from failbench.telemetry import Telemetry
from failbench.verdicts import Diagnosis

_EVIDENCE = ("signal", "value", "relation", "threshold")

DIAGNOSIS_SCHEMA = pl.Schema(
    {
        "run_id": pl.String(),
        "method": pl.String(),
        "diagnosis": pl.String(),
        "confidence": pl.Float64(),
        "reason": pl.String(),
        "conditions": pl.Int32(),
        "evidence": pl.List(pl.Struct([pl.Field(name, pl.String()) for name in _EVIDENCE])),
    }
)
"""Columns of a file of diagnoses; the first two are its key.

See :class:`failbench.verdicts.Diagnosis` for their meaning. Values and thresholds are text, because
some are numbers and some are words.
"""


def read_features(path: Path) -> pl.DataFrame:
    """Read the feature table that the stage ``features`` writes.

    Raises
    ------
    BadInputError
        If it is missing, not parquet, or lacks a column.
    """
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
    """A method fitted to every failing run of the study of all architectures.

    That study estimates the accuracy of such a method: on new scenarios of known architectures
    (pooled part), and on a new architecture (left-out part).

    Parameters
    ----------
    name, settings
        Name in ``methods.catalogue.CATALOGUE`` and its settings.
    features
        The feature table of all recorded runs.
    study
        Selects the training runs.
    known
        What the monitor knows of them, rows of ``monitored.known.KNOWN_SCHEMA``; for methods that
        read it, which learn from the runs that are in it.

    Raises
    ------
    BadInputError
        If there is no method of that name, it simulates people, there are no training runs, or
        there are too few successful runs for a healthy band.
    """
    declaration = method_named(name)
    if declaration.simulation:
        raise BadInputError(
            "methods",
            "method",
            f"{name!r} needs the true causes, which are unknown here.",
            "Choose a diagnostic method.",
        )
    selected = study.slice(features)
    failures = selected.filter(pl.col("kind") == "failure")
    if name in MONITOR_METHODS and known is not None:
        failures = with_known(failures, known)
    runs = LabelledRuns.from_table(failures)
    if not len(runs.labels):
        raise BadInputError(
            "features",
            "optimizer",
            f"no failing run of {study.optimizer} at scale {study.scale} is there to train on.",
            "Record one, or change the section across_architectures of params.yaml.",
        )
    band = healthy_band(to_frame(selected.filter(pl.col("kind") == "success")), band_features())
    context = Context(
        FEATURE_SETS[study.feature_sets[0]], band, study.seed, known=flags_in(failures.columns)
    )
    method = declaration.build(settings, context)
    return method.fit(runs.frame, runs.labels, groups=runs.groups)


def diagnoses_of(
    telemetry: Telemetry, methods: Mapping[str, Method], known: pl.DataFrame | None = None
) -> pl.DataFrame:
    """The diagnosis of each failing run by each method, at the step of the failure.

    Other runs are ignored: they have no failure to diagnose.

    Parameters
    ----------
    telemetry
        Any runs; their scenarios need not be known.
    methods
        Fitted methods by name.
    known
        What the monitor knows of the runs, rows of ``monitored.known.KNOWN_SCHEMA``; for methods
        that read it.

    Returns
    -------
    polars.DataFrame
        Rows of ``DIAGNOSIS_SCHEMA``, sorted by run, the methods of each in the order given.

    Raises
    ------
    BadInputError
        If ``known`` lacks a failing run.
    """
    failed = telemetry.select(pl.col("kind") == "failure")
    features = feature_table(failed, scenarios=())
    if known is not None:
        unknown = features.join(known, on="run_id", how="anti")
        if unknown.height:
            raise BadInputError(
                "monitor/runs.parquet",
                "run_id",
                f"{unknown['run_id'][0]!r} was recorded without a monitor.",
                "Record it again with one.",
            )
        features = with_known(features, known)
    frame = to_frame(features)
    diagnoses = (
        {name: method.diagnose(frame) for name, method in methods.items()} if len(frame) else {}
    )
    rows = [
        (run_id, name, *_row(of_method[position]))
        for position, run_id in enumerate(frame.index)
        for name, of_method in diagnoses.items()
    ]
    return pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")


def _row(diagnosis: Diagnosis) -> tuple[object, ...]:
    evidence = [
        {name: str(getattr(signal, name)) for name in _EVIDENCE} for signal in diagnosis.evidence
    ]
    return (
        diagnosis.category,
        diagnosis.confidence,
        diagnosis.reason,
        diagnosis.conditions,
        evidence,
    )


def diagnose_stream(
    batches: Iterable[Telemetry],
    methods: Mapping[str, Method],
    known: pl.DataFrame | None = None,
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Diagnose batches one by one: the number of runs of each, and its :func:`diagnoses_of`.

    Features, and so diagnoses, of a run do not depend on the other runs of its batch.
    """
    for telemetry in batches:
        yield telemetry.runs.height, diagnoses_of(telemetry, methods, known)


def write_diagnoses(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of ``DIAGNOSIS_SCHEMA`` into one parquet file as they are made.

    Raises
    ------
    BadInputError
        If the disk is full or the folder cannot be written. After any error, here or in the tables,
        an existing file is unchanged.
    """
    schema = DIAGNOSIS_SCHEMA.to_frame().to_arrow().schema
    remedy = "Free space or choose another folder; an existing file is unchanged."
    with (
        replaced_when_whole(path, remedy) as partial,
        pq.ParquetWriter(partial, schema, compression="zstd") as writer,
    ):
        for table in tables:
            writer.write_table(table.to_arrow())
