"""Main tables: those that a reader of the data starts from, with their files and columns."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

import polars as pl

from failbench.base.predictions import PREDICTION_SCHEMA, SPLIT_SCHEMA
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA
from failbench.features.catalogue import FEATURES
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, FEATURE_SCHEMA, KEYS
from failbench.publish.datacard.columns import Column, columns_of_record, columns_of_table
from failbench.publish.datacard.dictionary import Entry, entry_of

_DECLARED: Final = files("failbench.publish.datacard").joinpath("data/tables.csv")

DATA = "data/"
FILES_SCHEMA = pl.Schema(dict.fromkeys(("path", "content", "key"), pl.String()))
FORMATS = {".json": "application/json", ".csv": "text/csv", ".parquet": "application/x-parquet"}


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

    @property
    def size(self) -> int:
        """Of all its files, in bytes."""
        return sum(file.size for file in self.files)


def described_files(paths: Iterable[Path]) -> tuple[DataFile, ...]:
    """Hash and size of files below ``data``, in the order of their paths."""
    contents = ((path.as_posix(), path.read_bytes()) for path in sorted(paths))
    return tuple(
        DataFile(path.removeprefix(DATA), hashlib.sha256(content).hexdigest(), len(content))
        for path, content in contents
    )


def feature_columns() -> tuple[Column, ...]:
    """Columns of the feature table: keys, and measurements as the catalogue of features says."""
    labels = {name: FEATURE_SCHEMA[name] for name in (*KEYS, *ERROR_TEXT_COLUMNS)}
    measured = tuple(
        Column(feature.name, "number", 64, feature.unit, feature.formula) for feature in FEATURES
    )
    return (*columns_of_table("features", pl.Schema(labels)), *measured)


def columns_by_table() -> dict[str, tuple[Column, ...]]:
    """Columns of each main table, from the schemas that its readers and writers share."""
    return {
        "scenarios": columns_of_record("scenarios", Scenario),
        "runs": columns_of_table("runs", RUN_SCHEMA),
        "steps": columns_of_table("steps", STEP_SCHEMA),
        "features": feature_columns(),
        "splits": columns_of_table("splits", SPLIT_SCHEMA),
        "predictions": columns_of_table("predictions", PREDICTION_SCHEMA),
        "files": columns_of_table("files", FILES_SCHEMA),
    }


def main_tables(
    dictionary: tuple[Entry, ...],
    place: Path,
    paths: Mapping[str, Iterable[Path]],
    rows: Mapping[str, int],
) -> tuple[MainTable, ...]:
    """The main tables, in the order in which ``data/tables.csv`` of the package names them."""
    columns = columns_by_table()
    tables = []
    for declared in csv.DictReader(_DECLARED.read_text(encoding="utf-8").splitlines()):
        name, described_as, pattern = declared["table"], declared["described_as"], declared["path"]
        entry = entry_of(dictionary, pattern, place)
        tables.append(
            MainTable(
                name,
                described_as,
                pattern,
                entry.content,
                tuple(entry.key.split(", ")),
                columns[described_as],
                described_files(paths[name]),
                rows[name],
            )
        )
    return tuple(tables)
