"""Main tables: those that a reader of the data starts from, with their files and columns."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Literal, Union, get_args, get_origin

import polars as pl
from pydantic import BaseModel

from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA, SPLIT_SCHEMA
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA
from failbench.features.catalogue import FEATURES
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, FEATURE_SCHEMA, KEYS
from failbench.publish.datacard.statements import COLUMNS, Entry, declared

Kind = Literal["text", "text or none", "integer", "number", "object"]

DATA = "data/"
FORMATS = {".json": "application/json", ".csv": "text/csv", ".parquet": "application/x-parquet"}


@dataclass(frozen=True)
class Column:
    """A column of a table, or a key of a JSON file that holds one record."""

    name: str
    kind: Kind
    bits: int
    unit: str
    description: str

    @property
    def stored(self) -> str:
        """Its type in words."""
        return f"{self.kind}, {self.bits} bit" if self.bits else self.kind


@dataclass(frozen=True)
class DataFile:
    """A file: its path below ``data``, what identifies its content, and its size in bytes."""

    path: str
    sha256: str
    size: int

    @property
    def media_type(self) -> str:
        """The media type of its format, as Croissant names it."""
        return FORMATS[Path(self.path).suffix]


@dataclass(frozen=True)
class MainTable:
    """A table in one file, or in several with the same columns."""

    name: str
    described_as: str
    pattern: str
    content: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    files: tuple[DataFile, ...]
    rows: int


def main_tables(
    dictionary: Iterable[Entry],
    place: Path,
    paths: Mapping[str, Iterable[Path]],
    rows: Mapping[str, int],
) -> tuple[MainTable, ...]:
    """The main tables, in the order in which ``data/tables.csv`` of the package names them."""
    columns, entries = columns_by_table(), {entry.path: entry for entry in dictionary}
    tables = []
    for row in csv.DictReader(declared("tables.csv").splitlines()):
        name, described_as, pattern = row["table"], row["described_as"], row["path"]
        entry = entries.get(pattern)
        if entry is None:
            raise BadInputError(place, "path", f"no row is about {pattern}.", "Add one.")
        contents = ((path.as_posix(), path.read_bytes()) for path in sorted(paths[name]))
        described = tuple(
            DataFile(path.removeprefix(DATA), hashlib.sha256(content).hexdigest(), len(content))
            for path, content in contents
        )
        key = tuple(entry.key.split(", "))
        tables.append(
            MainTable(
                name,
                described_as,
                pattern,
                entry.content,
                key,
                columns[described_as],
                described,
                rows[name],
            )
        )
    return tuple(tables)


def columns_by_table() -> dict[str, tuple[Column, ...]]:
    """Columns of each main table, from the schemas that its readers and writers share."""
    labels = pl.Schema({name: FEATURE_SCHEMA[name] for name in (*KEYS, *ERROR_TEXT_COLUMNS)})
    schemas = {
        "runs": RUN_SCHEMA,
        "steps": STEP_SCHEMA,
        "features": labels,
        "splits": SPLIT_SCHEMA,
        "predictions": PREDICTION_SCHEMA,
        "files": pl.Schema(dict.fromkeys(COLUMNS, pl.String())),
    }
    keys = {name: (_kind(field.annotation), 0) for name, field in Scenario.model_fields.items()}
    columns = {"scenarios": described_columns("scenarios", keys)}
    for name, schema in schemas.items():
        types = {column: _stored(dtype) for column, dtype in schema.items()}
        columns[name] = described_columns(name, types)
    # beside keys, measurements as the catalogue of features says
    columns["features"] += tuple(
        Column(feature.name, "number", 64, feature.unit, feature.formula) for feature in FEATURES
    )
    return columns


def described_columns(table: str, types: Mapping[str, tuple[Kind, int]]) -> tuple[Column, ...]:
    """Columns with their kind and bits, and with unit and description from ``data/columns.csv``."""
    rows = [
        row for row in csv.DictReader(declared("columns.csv").splitlines()) if row["table"] == table
    ]
    described = {row["column"]: (row["unit"], row["description"]) for row in rows}
    for name in [*types, *described]:
        if name not in types or name not in described:
            raise BadInputError(
                "failbench/publish/datacard/data/columns.csv",
                f"{table}.{name}",
                "the table has no such column." if name in described else "is not described.",
                "Make its rows those of the table.",
            )
    return tuple(Column(name, *types[name], *described[name]) for name in types)


def _stored(dtype: pl.DataType) -> tuple[Kind, int]:
    bits = "".join(letter for letter in str(dtype) if letter.isdigit())
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "number", int(bits)
    return "text", 0


def _kind(annotation: object) -> Kind:
    """What the values of a key are: text, which may be missing, or an object with keys."""
    if get_origin(annotation) in {UnionType, Union} and type(None) in get_args(annotation):
        return "text or none"
    record = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return "object" if record or get_origin(annotation) is dict else "text"
