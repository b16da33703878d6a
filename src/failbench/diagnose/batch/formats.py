"""Formats: a file of diagnoses as its suffix says, written as the diagnoses are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow.parquet as pq

from failbench.base.errors import BadInputError
from failbench.base.files import replaced_when_whole
from failbench.diagnose.batch.diagnoses import DIAGNOSIS_SCHEMA

# writes tables of ``DIAGNOSIS_SCHEMA`` into one file
Writer = Callable[[Iterable[pl.DataFrame], Path], None]


def write_diagnoses(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Write tables of ``DIAGNOSIS_SCHEMA`` into one file as they are made."""
    write = writer_of(path)
    remedy = "Free space or choose another folder; an existing file is unchanged."
    with replaced_when_whole(path, remedy) as partial:
        write(tables, partial)


def writer_of(path: Path) -> Writer:
    """What writes a file of diagnoses."""
    *others, last = WRITERS
    remedy = f"Name a file that ends in {', '.join(others)} or {last}."
    if path.is_dir():
        raise BadInputError(path, "--output", "is a folder.", remedy)
    write = WRITERS.get(path.suffix.lower())
    if write is None:
        problem = f"the suffix {path.suffix!r} is of no known format."
        if not path.suffix:
            problem = "has no suffix that says its format."
        raise BadInputError(path, "--output", problem, remedy)
    return write


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
                run_id if run_id.isprintable() else json.dumps(run_id)[1:-1]
                for run_id in table["run_id"]
            ]
            table.with_columns(
                run_id=pl.Series(run_ids, dtype=pl.String),
                evidence=pl.Series(cells, dtype=pl.String),
            ).write_csv(file, include_header=False)


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
