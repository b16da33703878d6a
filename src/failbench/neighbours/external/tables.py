"""DEFault's feature tables: runs of Keras programs with seeded faults, and runs without.

A row is a run, a column the mean of a measurement over its epochs. Null is what the authors' files
leave empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import polars as pl

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows

DETECTION: Final = "detection"
"""The table of the first level: faulty runs and correct ones."""

POSITIVES: Final[Mapping[str, str]] = {
    "activation": "Activation",
    "hyperparameter": "Hyperparameter",
    "layer": "Layer",
    "loss": "Loss",
    "optimization": "Optimization",
    "regularization": "Regularizer",
    "weight": "Weight",
}
"""Tables of the second level, each with the label that it is about; other rows are negatives."""

TABLES: Final = (DETECTION, *POSITIVES)

CORRECT, BUGGY = "correct", "buggy"
LABEL: Final = "label"

REMEDY: Final = "Restore it with git, or make it again with `failbench external-default`."
BY_HAND: Final = "Restore it with git, or correct it after the records in neighbours/external."


class ColumnNote(Record):
    """What is said of a column of the tables."""

    column: str
    part: Literal["training", "host"]  # what it measures: the training, or the machine
    levels: Literal["both", "second"]
    feature: str
    why: str


class PrintedFigure(Record):
    """A figure that the authors print."""

    table: str
    metric: Literal["accuracy", "f1"]
    value: float
    place: str


@dataclass(frozen=True)
class ReleasedTables:
    """All tables, with what is said of their columns and what the authors print."""

    tables: Mapping[str, pl.DataFrame]
    columns: tuple[ColumnNote, ...]
    printed: tuple[PrintedFigure, ...]

    @property
    def detection(self) -> pl.DataFrame:
        """The first level: a row per run, faulty or correct."""
        return self.tables[DETECTION]

    @cached_property
    def categories(self) -> pl.DataFrame:
        """The positive rows of all tables of the second level, table after table."""
        return pl.concat(
            self.tables[name].filter(pl.col(LABEL) == label) for name, label in POSITIVES.items()
        )

    @property
    def host(self) -> tuple[str, ...]:
        """Columns that describe the machine and not the training."""
        return tuple(note.column for note in self.columns if note.part == "host")

    def printed_figure(self, table: str, metric: str = "accuracy") -> float:
        """A figure that the authors print, as a fraction."""
        for figure in self.printed:
            if (figure.table, figure.metric) == (table, metric):
                return figure.value
        problem = f"the {metric} of {table} is missing."
        raise BadInputError("printed.csv", "table", problem, "Restore it with git.")


def crashed(table: pl.DataFrame) -> pl.Series:
    """Rows of which nothing was measured: runs that ended before their first epoch did."""
    return table.select(pl.all_horizontal(pl.exclude(LABEL).is_null()).alias("crashed")).to_series()


def path_of(folder: Path, name: str) -> Path:
    """Where a table is."""
    return folder / "tables" / f"{name}.parquet"


def read_released(folder: Path) -> ReleasedTables:
    """Read the compact copy."""
    columns = tuple(read_rows(folder / "columns.csv", ColumnNote, BY_HAND))
    if not columns:
        raise BadInputError(folder / "columns.csv", "(rows)", "there are none.", BY_HAND)
    printed = tuple(read_rows(folder / "printed.csv", PrintedFigure, BY_HAND))
    tables = {name: _table(folder, name, columns) for name in TABLES}
    return ReleasedTables(tables, columns, printed)


def _table(folder: Path, name: str, columns: tuple[ColumnNote, ...]) -> pl.DataFrame:
    path = path_of(folder, name)
    try:
        table = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise BadInputError(path, "(file)", "is missing or is not parquet.", REMEDY) from error
    level = [note.column for note in columns if note.levels == "both" or name != DETECTION]
    expected = {**dict.fromkeys(level, pl.Float64()), LABEL: pl.String()}
    for column, dtype in expected.items():
        actual = table.schema.get(column)
        if actual != dtype:
            problem = "the column is missing." if actual is None else f"is {actual}, not {dtype}."
            raise BadInputError(path, column, problem, REMEDY)
    if table.is_empty():
        raise BadInputError(path, "(rows)", "there are none.", REMEDY)
    known = {CORRECT, BUGGY} if name == DETECTION else set(POSITIVES.values())
    wanted = {BUGGY, CORRECT} if name == DETECTION else {POSITIVES[name]}
    labels = set(table[LABEL])
    if not wanted <= labels <= known:
        problem = f"has the labels {', '.join(sorted(map(str, labels)))}."
        raise BadInputError(path, LABEL, problem, REMEDY)
    return table.select(*expected)
