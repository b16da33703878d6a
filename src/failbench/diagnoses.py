"""Diagnoses of many runs: methods that learnt from the benchmark, applied to other telemetry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS, FEATURES
from failbench.features.feature_table import ERROR_TEXT, KEYS, feature_table, to_frame
from failbench.files import replaced_when_whole
from failbench.methods.band_features import band_features
from failbench.methods.catalogue import method_named
from failbench.methods.declaration import Context
from failbench.methods.healthy_band import healthy_band
from failbench.methods.method import Method
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

What they mean is said of :class:`failbench.verdicts.Diagnosis`. Values and thresholds are
text, because some are numbers and some are words.
"""


def read_features(path: Path) -> pl.DataFrame:
    """Read the feature table that the stage ``features`` writes.

    Raises
    ------
    BadInputError
        If it is not there, is not parquet, or lacks a column.
    """
    remedy = "Run `dvc repro features`, or restore it with `git checkout`."
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInputError(
            path, "(file)", "is missing or is not a parquet file.", remedy
        ) from error
    for name in (*KEYS, *ERROR_TEXT, *(feature.name for feature in FEATURES)):
        if name not in table.columns:
            raise BadInputError(path, name, "the column is missing.", remedy)
    return table


def learnt_method(
    name: str, settings: Record, features: pl.DataFrame, study: AcrossArchitectures
) -> Method:
    """A method that has learnt from every failing run of the study of all architectures.

    The pooled part of that study says how often such a method is right on new scenarios of
    architectures that it knows, and the part that leaves one architecture out, on a new one.

    Parameters
    ----------
    name, settings
        Name in ``methods.catalogue.CATALOGUE`` and its settings.
    features
        The feature table of all recorded runs.
    study
        Which of them to learn from.

    Raises
    ------
    BadInputError
        If there is no method of that name, if it simulates people, if nothing is there to learn
        from, or if too few successful runs are there to measure a healthy band.
    """
    declaration = method_named(name)
    if declaration.simulation:
        raise BadInputError(
            "methods",
            "method",
            f"{name!r} is told the true causes, which nobody knows here.",
            "Choose a method that diagnoses.",
        )
    taken = study.slice(features)
    runs = LabelledRuns.from_table(taken.filter(pl.col("kind") == "failure"))
    if not len(runs.labels):
        raise BadInputError(
            "features",
            "optimizer",
            f"no failing run of {study.optimizer} at scale {study.scale} is there to learn from.",
            "Record one, or change the section across_architectures of params.yaml.",
        )
    band = healthy_band(to_frame(taken.filter(pl.col("kind") == "success")), band_features())
    context = Context(FEATURE_SETS[study.feature_sets[0]], band, study.seed)
    method = declaration.build(settings, context)
    return method.fit(runs.frame, runs.labels, groups=runs.groups)


def diagnoses_of(telemetry: Telemetry, methods: Mapping[str, Method]) -> pl.DataFrame:
    """What each method says of each failing run, at the step at which the run failed.

    Runs of other kinds are left out: in them there is nothing to diagnose.

    Parameters
    ----------
    telemetry
        Any runs; whether their scenarios are known makes no difference.
    methods
        Fitted methods by name.

    Returns
    -------
    polars.DataFrame
        Rows of ``DIAGNOSIS_SCHEMA``, sorted by run, the methods of each in the order given.
    """
    failed = telemetry.select(pl.col("kind") == "failure")
    frame = to_frame(feature_table(failed, scenarios=()))
    said = {name: method.diagnose(frame) for name, method in methods.items()} if len(frame) else {}
    rows = [
        (run_id, name, *_cells(diagnoses[position]))
        for position, run_id in enumerate(frame.index)
        for name, diagnoses in said.items()
    ]
    return pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")


def _cells(one: Diagnosis) -> tuple[object, ...]:
    evidence = [{name: str(getattr(signal, name)) for name in _EVIDENCE} for signal in one.evidence]
    return one.category, one.confidence, one.reason, one.conditions, evidence


def diagnose_stream(
    batches: Iterable[Telemetry], methods: Mapping[str, Method]
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Diagnose batch after batch: how many runs it held, and :func:`diagnoses_of` it.

    Features, and so diagnoses, of a run do not depend on the other runs of its batch.
    """
    for telemetry in batches:
        yield telemetry.runs.height, diagnoses_of(telemetry, methods)


def write_diagnoses(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of ``DIAGNOSIS_SCHEMA`` into one parquet file as they come.

    Raises
    ------
    BadInputError
        If the disk is full or the folder cannot be written. Whatever is raised, here or by the
        tables, a file that was there stays as it was.
    """
    schema = DIAGNOSIS_SCHEMA.to_frame().to_arrow().schema
    remedy = "Free space or choose another folder; what was there is untouched."
    with (
        replaced_when_whole(path, remedy) as partial,
        pq.ParquetWriter(partial, schema, compression="zstd") as writer,
    ):
        for table in tables:
            writer.write_table(table.to_arrow())
