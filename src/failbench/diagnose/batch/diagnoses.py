"""Diagnoses: what fitted methods say of many runs, batch by batch, and the file of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pandas as pd
import polars as pl
import pyarrow.parquet as pq

from failbench.base.errors import BadInputError
from failbench.base.files import replaced_when_whole
from failbench.base.telemetry import Telemetry
from failbench.base.verdicts import Diagnosis
from failbench.diagnose.batch.methods import RAW_METHODS
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
# writes tables of ``DIAGNOSIS_SCHEMA`` into one file
Writer = Callable[[Iterable[pl.DataFrame], Path], None]


def diagnoses_of(
    telemetry: Telemetry,
    methods: Mapping[str, Method],
    known: pl.DataFrame | None = None,
    folder: Path = Path(),
) -> pl.DataFrame:
    """The diagnosis of each failing run by each method at its failure; other runs are ignored."""
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
    runs = enumerate(failed.runs["run_id"].sort())
    rows = [(run_id, name, *_row(answers[name][at])) for at, run_id in runs for name in methods]
    return pl.DataFrame(rows, schema=DIAGNOSIS_SCHEMA, orient="row")


def _features(failed: Telemetry, known: pl.DataFrame | None, folder: Path) -> pl.DataFrame:
    features = feature_table(failed, scenarios=())
    if known is None:
        return features
    unknown = features.join(known, on="run_id", how="anti")
    if unknown.height:
        problem = f"{unknown['run_id'][0]!r} was recorded without a monitor."
        remedy = "Record it again with one, or choose methods that read telemetry alone."
        raise BadInputError(folder / "monitor" / RUNS, "run_id", problem, remedy)
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
    """The number of runs of each batch and its diagnoses, which depend on no other run of it."""
    for telemetry in batches:
        yield telemetry.runs.height, diagnoses_of(telemetry, methods, known, folder)


def write_diagnoses(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of ``DIAGNOSIS_SCHEMA`` into one file as they are made."""
    write = writer_of(path)
    remedy = "Free space or choose another folder; an existing file is unchanged."
    with replaced_when_whole(path, remedy) as partial:
        write(tables, partial)


def writer_of(path: Path) -> Writer:
    """What writes a file of diagnoses."""
    *others, last = WRITERS
    if not path.is_dir() and (write := WRITERS.get(path.suffix.lower())) is not None:
        return write
    problem = f"the suffix {path.suffix!r} is of no known format."
    if path.is_dir():
        problem = "is a folder."
    elif not path.suffix:
        problem = "has no suffix that says its format."
    remedy = f"Name a file that ends in {', '.join(others)} or {last}."
    raise BadInputError(path, "--output", problem, remedy)


def _write_parquet(tables: Iterable[pl.DataFrame], path: Path) -> None:
    schema = DIAGNOSIS_SCHEMA.to_frame().to_arrow().schema
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table.to_arrow())


def _write_csv(tables: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("wb") as file:
        file.write(",".join(DIAGNOSIS_SCHEMA).encode() + b"\n")
        for table in tables:
            cells = [json.dumps(evidence) for evidence in table["evidence"].to_list()]
            # letters that draw nothing are escaped
            run_ids = [
                one if one.isprintable() else json.dumps(one)[1:-1] for one in table["run_id"]
            ]
            text = {"run_id": run_ids, "evidence": cells}
            columns = [pl.Series(name, values, pl.String) for name, values in text.items()]
            table.with_columns(columns).write_csv(file, include_header=False)


def _write_json(tables: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("w", encoding="ascii") as file:
        before = "[\n"
        for row in _objects(tables):
            file.write(before + row)
            before = ",\n"
        file.write("[]\n" if before == "[\n" else "\n]\n")


def _write_json_lines(tables: Iterable[pl.DataFrame], path: Path) -> None:
    with path.open("w", encoding="ascii") as file:
        file.writelines(f"{row}\n" for row in _objects(tables))


def _objects(tables: Iterable[pl.DataFrame]) -> Iterator[str]:
    for table in tables:
        for row in table.iter_rows(named=True):
            yield json.dumps(row, allow_nan=False)


# writers by the suffix of their files
WRITERS: Final[dict[str, Writer]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".json": _write_json,
    ".jsonl": _write_json_lines,
    ".ndjson": _write_json_lines,
}
