"""Diagnoses: what fitted methods say of many runs, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

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

See :class:`failbench.base.verdicts.Diagnosis` for their meaning. Values and thresholds are text,
because some are numbers and some are words.
"""

RAW_RUNS_AT_ONCE: Final = 256
"""Runs that a method of raw telemetry is asked about at a time: each has ten thousand columns, and
a batch may hold a hundred thousand runs that ended before their first step."""


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
    diagnoses: dict[str, tuple[Diagnosis, ...]] = {}
    if failed.runs.height:
        of_raw = {name: method for name, method in methods.items() if name in RAW_METHODS}
        of_features = {name: method for name, method in methods.items() if name not in of_raw}
        diagnoses |= _by_features(failed, of_features, known, folder) if of_features else {}
        diagnoses |= _by_raw_telemetry(failed, of_raw) if of_raw else {}
    rows = [
        (run_id, name, *_row(diagnoses[name][position]))
        for position, run_id in enumerate(failed.runs["run_id"].sort())
        for name in methods
    ]
    return pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")


def _by_features(
    failed: Telemetry, methods: Mapping[str, Method], known: pl.DataFrame | None, folder: Path
) -> dict[str, tuple[Diagnosis, ...]]:
    features = feature_table(failed, scenarios=())
    if known is not None:
        unknown = features.join(known, on="run_id", how="anti")
        if unknown.height:
            raise BadInputError(
                folder / "monitor" / RUNS,
                "run_id",
                f"{unknown['run_id'][0]!r} was recorded without a monitor.",
                "Record it again with one, or choose methods that read telemetry alone.",
            )
        features = with_known(features, known)
    frame = to_frame(features)
    return {name: method.diagnose(frame) for name, method in methods.items()}


def _by_raw_telemetry(
    failed: Telemetry, methods: Mapping[str, Method]
) -> dict[str, tuple[Diagnosis, ...]]:
    table = raw_table(failed, scenarios=())
    frames = [to_frame(part) for part in table.iter_slices(RAW_RUNS_AT_ONCE)]
    return {
        name: tuple(diagnosis for frame in frames for diagnosis in method.diagnose(frame))
        for name, method in methods.items()
    }


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
    folder: Path = Path(),
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Diagnose batches one by one: the number of runs of each, and its :func:`diagnoses_of`.

    What a method is shown of a run, and so its diagnosis, does not depend on the other runs of its
    batch.
    """
    for telemetry in batches:
        yield telemetry.runs.height, diagnoses_of(telemetry, methods, known, folder)
