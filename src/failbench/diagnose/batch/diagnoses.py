"""Diagnoses: what fitted methods say of many runs, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pandas as pd
import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.base.verdicts import Diagnosis
from failbench.diagnose.batch.catalogue import RAW_METHODS
from failbench.features.feature_table import feature_table, raw_table, to_frame
from failbench.methods.declaration import Method
from failbench.monitor.records.tables import RUNS
from failbench.monitor.records.verdicts import with_known

_EVIDENCE = ("signal", "value", "relation", "threshold")

# Columns of a file of diagnoses; the first two are its key. See
# :class:`failbench.base.verdicts.Diagnosis` for their meaning. Values and thresholds are text,
# because some are numbers and some are words.
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

# runs that a method of raw telemetry is asked about at a time: each has ten thousand columns, and
# a batch may hold a hundred thousand runs that ended before their first step
RAW_RUNS_AT_ONCE: Final = 256


def diagnoses_of(
    telemetry: Telemetry,
    methods: Mapping[str, Method],
    known: pl.DataFrame | None = None,
    folder: Path = Path(),
) -> pl.DataFrame:
    """The diagnosis of each failing run by each method, at the step of the failure.

    Other runs are ignored: they have no failure to diagnose.
    """
    failed = telemetry.select(pl.col("kind") == "failure")
    frames: dict[bool, list[pd.DataFrame]] = {}
    for of_raw in {name in RAW_METHODS for name in methods} if failed.runs.height else ():
        table = raw_table(failed, scenarios=()) if of_raw else _features(failed, known, folder)
        parts = table.iter_slices(RAW_RUNS_AT_ONCE) if of_raw else [table]
        frames[of_raw] = [to_frame(part) for part in parts]
    answers = {
        name: [each for frame in frames.get(name in RAW_METHODS, ()) for each in of.diagnose(frame)]
        for name, of in methods.items()
    }
    rows = [
        (run_id, name, *_row(answers[name][position]))
        for position, run_id in enumerate(failed.runs["run_id"].sort())
        for name in methods
    ]
    return pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")


def _features(failed: Telemetry, known: pl.DataFrame | None, folder: Path) -> pl.DataFrame:
    features = feature_table(failed, scenarios=())
    if known is None:
        return features
    unknown = features.join(known, on="run_id", how="anti")
    if unknown.height:
        raise BadInputError(
            folder / "monitor" / RUNS,
            "run_id",
            f"{unknown['run_id'][0]!r} was recorded without a monitor.",
            "Record it again with one, or choose methods that read telemetry alone.",
        )
    return with_known(features, known)


def _row(said: Diagnosis) -> tuple[object, ...]:
    evidence = [{name: str(getattr(each, name)) for name in _EVIDENCE} for each in said.evidence]
    return said.category, said.confidence, said.reason, said.conditions, evidence


def diagnose_stream(
    batches: Iterable[Telemetry],
    methods: Mapping[str, Method],
    known: pl.DataFrame | None = None,
    folder: Path = Path(),
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Diagnose batches one by one: the number of runs of each, and its :func:`diagnoses_of`.

    What a method is shown of a run, and so its diagnosis, does not depend on the other runs of its
    batch.
    """
    for telemetry in batches:
        yield telemetry.runs.height, diagnoses_of(telemetry, methods, known, folder)
