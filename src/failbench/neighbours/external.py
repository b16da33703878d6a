"""DEFault's feature tables: runs of Keras programs with seeded faults, and runs without.

A row is a run, a column the mean of a measurement over its epochs. Written back as CSV, a copy is
the released file byte for byte, so that a released file's hash is a check of it. What our rules
read and ``data/external/default/columns.csv`` lacks is missing: on neither side of a threshold.
"""

import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import numpy as np
import pandas as pd
import polars as pl
from pydantic import Field

from failbench.base.arrays import Labels
from failbench.base.errors import BadInputError
from failbench.base.method_settings import SimpleRulesSettings
from failbench.base.records import Record, read_rows
from failbench.base.stage import read_output
from failbench.base.telemetry import write_parquet
from failbench.features.feature import CEILING
from failbench.methods.healthy import HealthyBand
from failbench.methods.improved_tree import TREE
from failbench.methods.rules import Declared, ErrorMatches, features_of
from failbench.methods.simple_rules import SIMPLE_RULES, SimpleRules

DETECTION: Final = "detection"  # the table of the first level: faulty runs and correct ones

# tables of the second level, each with the label that it is about; other rows are negatives
POSITIVES: Final[Mapping[str, str]] = {
    "activation": "Activation",
    "hyperparameter": "Hyperparameter",
    "layer": "Layer",
    "loss": "Loss",
    "optimization": "Optimization",
    "regularization": "Regularizer",
    "weight": "Weight",
}

TABLES: Final = (DETECTION, *POSITIVES)
CORRECT, BUGGY = "correct", "buggy"
LABEL: Final = "label"
TEXTS: Final = ("error_type", "error_message")  # what error text is made of
SOURCES: Final = "sources.csv"  # beside the tables: the released files, with their sizes and hashes
REPOSITORY: Final = "the repository that PROVENANCE.md names"
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

    def printed_figure(self, table: str) -> float:
        """The accuracy that the authors print, as a fraction."""
        for figure in self.printed:
            if (figure.table, figure.metric) == (table, "accuracy"):
                return figure.value
        problem = f"the accuracy of {table} is missing."
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
    printed = tuple(read_rows(folder / "printed.csv", PrintedFigure, BY_HAND))
    tables = {name: _table(folder, name, columns) for name in TABLES}
    return ReleasedTables(tables, columns, printed)


def _table(folder: Path, name: str, columns: tuple[ColumnNote, ...]) -> pl.DataFrame:
    path = path_of(folder, name)
    level = [note.column for note in columns if note.levels == "both" or name != DETECTION]
    schema = pl.Schema({**dict.fromkeys(level, pl.Float64()), LABEL: pl.String()})
    table = read_output(path, schema, remedy=REMEDY)
    known = {CORRECT, BUGGY} if name == DETECTION else set(POSITIVES.values())
    wanted = {BUGGY, CORRECT} if name == DETECTION else {POSITIVES[name]}
    labels = set(table[LABEL])
    if not wanted <= labels <= known:
        problem = f"has the labels {', '.join(sorted(map(str, labels)))}."
        raise BadInputError(path, LABEL, problem, REMEDY)
    return table


class Source(Record):
    """A released file."""

    table: str
    source: str
    folder: str
    positive: str
    bytes: int = Field(ge=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


def read_sources(folder: Path) -> tuple[Source, ...]:
    """Read the list of released files."""
    return tuple(read_rows(folder / SOURCES, Source, BY_HAND))


def copy_released(released: Path, folder: Path) -> tuple[Path, ...]:
    """Copy all released files in compact form, once all are what they were."""
    sources = read_sources(folder)
    contents = {source.table: _checked(released / source.source, source) for source in sources}
    tables = {
        name: pl.read_csv(io.BytesIO(content), infer_schema_length=None)
        for name, content in contents.items()
    }
    for source in sources:
        if as_released(tables[source.table]) != contents[source.table]:
            problem = "a copy with 64-bit numbers does not give the file back."
            remedy = "Use the versions of libraries in requirements.lock."
            raise BadInputError(released / source.source, "(numbers)", problem, remedy)
    for name, table in tables.items():
        write_parquet(table, path_of(folder, name))
    return tuple(path_of(folder, name) for name in TABLES if name in tables)


def as_released(table: pl.DataFrame) -> bytes:
    """A table as the authors wrote it: CSV with the shortest text that gives each number back."""
    text: str = table.to_pandas().to_csv(index=False, lineterminator="\n")
    return text.encode()


def _checked(path: Path, source: Source) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        remedy = f"Fetch {source.folder}/{source.source} from {REPOSITORY}."
        raise BadInputError(path, "(file)", "cannot be read.", remedy) from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        problem = f"is {digest[:16]}..., and {SOURCES} has {source.sha256[:16]}..."
        remedy = f"Fetch {source.folder}/{source.source} at the commit that PROVENANCE.md names."
        raise BadInputError(path, "sha256", problem, remedy)
    return content


def simple_rules_asked(columns: Iterable[ColumnNote]) -> dict[str, int]:
    """How many of the simple rules can be asked."""
    return _asked((rule.conditions for rule in SIMPLE_RULES), columns)


def improved_rules_asked(columns: Iterable[ColumnNote]) -> dict[str, int]:
    """How many leaves of the improved rules that name a category can be reached and confirmed."""
    paths = (
        (*node.when, *leaf.when, *leaf.confirms)
        for node in TREE.refinements
        for leaf in node.leaves
        if leaf.category
    )
    return _asked(paths, columns)


def our_features(rows: pd.DataFrame, columns: Iterable[ColumnNote]) -> pd.DataFrame:
    """Our features, finite as ours are: an empty loss or norm was not a number in any epoch."""
    named = {note.feature: note.column for note in columns if note.feature}
    read = features_of(condition for rule in SIMPLE_RULES for condition in rule.conditions)
    frame = pd.DataFrame(index=rows.index)
    for feature in sorted(read):
        if feature in named:
            values = rows[named[feature]].to_numpy(dtype=np.float64)
            finite = np.where(np.isfinite(values), values, CEILING)
            frame[feature] = np.minimum(finite, CEILING)
        else:
            frame[feature] = np.nan
    return frame.assign(**dict.fromkeys(TEXTS, ""))


def simple_answers(
    trained: pd.DataFrame, labels: Labels, tested: pd.DataFrame, settings: SimpleRulesSettings
) -> Labels:
    """Buggy where a simple rule holds, correct where none does: the fallback has no evidence."""
    usual = trained[labels == CORRECT].drop(columns=list(TEXTS))
    band = HealthyBand(usual.mean().to_dict(), usual.std(ddof=1).to_dict())
    rules = SimpleRules(band, **settings.model_dump()).fit(tested, labels)
    named = [BUGGY if diagnosis.evidence else CORRECT for diagnosis in rules.diagnose(tested)]
    return np.array(named, dtype=object)


def _asked(
    conditions: Iterable[tuple[Declared, ...]], columns: Iterable[ColumnNote]
) -> dict[str, int]:
    """Of so many ``rules`` those that read no error text and lack no column."""
    named = {note.feature for note in columns if note.feature}
    applicable = [
        features_of(of_rule) <= named
        and not any(isinstance(condition, ErrorMatches) for condition in of_rule)
        for of_rule in conditions
    ]
    return {"rules": len(applicable), "applicable": sum(applicable)}
