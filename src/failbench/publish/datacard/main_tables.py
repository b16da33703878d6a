"""What the data card declares, its main tables, and their description for programs."""

# Programs read Croissant 1.0 with its extension for responsible AI 1.0 (MLCommons; Akhtar et al.,
# 2024), which is JSON-LD; ``data/context.json`` is the context that the specification asks for.

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path
from string import Template
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import polars as pl
from pydantic import BaseModel, Field

from failbench.base.errors import BadInputError
from failbench.base.predictions import PREDICTION_SCHEMA, SPLIT_SCHEMA
from failbench.base.records import Record, read_rows
from failbench.base.scenarios import Scenario
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA
from failbench.features.catalogue import FEATURES
from failbench.features.feature_table import ERROR_TEXT_COLUMNS, FEATURE_SCHEMA, KEYS

Text = Annotated[str, Field(min_length=1)]
Sentences = tuple[str, ...]

REMEDY = "Restore it with git, or give each file its path, content and key."


def declared(name: str) -> str:
    """The text of a file of this package's data."""
    return files("failbench.publish.datacard").joinpath("data", name).read_text(encoding="utf-8")


class Author(Record):
    """Who is cited."""

    name: Text


class Citation(Record):
    """The content of CITATION.cff, of the Citation File Format 1.2."""

    cff_version: Literal["1.2.0"] = Field(alias="cff-version")
    message: Text
    title: Text
    type: Literal["software"]
    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    date_released: date = Field(alias="date-released")
    license: Literal["MIT"]
    authors: tuple[Author, ...] = Field(min_length=1)
    abstract: Text
    keywords: tuple[str, ...] = Field(min_length=1)

    @property
    def bibtex(self) -> str:
        """The reference as an entry of BibTeX."""
        authors = " and ".join(f"{{{author.name}}}" for author in self.authors)
        return (
            f"@misc{{failbench, title={{{self.title}}}, author={{{authors}}}, "
            f"version={{{self.version}}}, year={{{self.date_released.year}}}}}"
        )


def _rai(name: str) -> Any:
    return Field(serialization_alias=f"rai:{name}")


class Statements(Record):
    """What is said of the data as a whole; other names are of Croissant's responsible AI."""

    licence_url: str
    intended_uses: Sentences
    unintended_uses: Sentences
    limitations: Sentences = _rai("dataLimitations")
    biases: Sentences = _rai("dataBiases")
    collection: str = _rai("dataCollection")
    missing_data: str = _rai("dataCollectionMissingData")
    preprocessing: Sentences = _rai("dataPreprocessingProtocol")
    annotation: str = _rai("dataAnnotationProtocol")
    labels_per_item: str = _rai("annotationsPerItem")
    annotators: Sentences = _rai("annotatorDemographics")
    machine_annotation: Sentences = _rai("machineAnnotationTools")
    personal: str
    social_impact: str = _rai("dataSocialImpact")
    maintenance: str = _rai("dataReleaseMaintenancePlan")


def statements(facts: Mapping[str, str]) -> Statements:
    """The statements, with the numbers that they name."""

    def filled(said: Any) -> Any:
        return Template(said).substitute(facts) if isinstance(said, str) else [*map(filled, said)]

    texts = json.loads(declared("card.json"))
    return Statements.model_validate({name: filled(said) for name, said in texts.items()})


class Entry(Record):
    """A row of data/files.csv: files of one kind, and what they are."""

    path: Text
    content: Text
    key: str


def read_dictionary(path: Path) -> tuple[Entry, ...]:
    """Read the dictionary of files."""
    return tuple(read_rows(path, Entry, REMEDY))


Kind = Literal["text", "text or none", "integer", "number", "object"]

DATA = "data/"
FORMATS = {".json": "application/json", ".csv": "text/csv", ".parquet": "application/x-parquet"}

CONFORMS_TO = ("http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0")
DATA_TYPES: dict[Kind, str] = {"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}
"""By kind of value; keys with objects, or that a file may lack, are left to its readers."""


class Column(NamedTuple):
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


class DataFile(NamedTuple):
    """A file: its path below ``data``, what identifies its content, and its size in bytes."""

    path: str
    sha256: str
    size: int

    @property
    def media_type(self) -> str:
        """The media type of its format, as Croissant names it."""
        return FORMATS[Path(self.path).suffix]


class MainTable(NamedTuple):
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
        key, alike = tuple(entry.key.split(", ")), columns[described_as]
        about = (name, described_as, pattern, entry.content, key, alike)
        tables.append(MainTable(*about, described, rows[name]))
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
        "files": pl.Schema(dict.fromkeys(Entry.model_fields, pl.String())),
    }
    keys = {name: (_kind(field.annotation), 0) for name, field in Scenario.model_fields.items()}
    columns = {"scenarios": described_columns("scenarios", keys)}
    for name, schema in schemas.items():
        stored = {column: _stored(dtype) for column, dtype in schema.items()}
        columns[name] = described_columns(name, stored)
    # beside keys, measurements as the catalogue of features says
    columns["features"] += tuple(
        Column(feature.name, "number", 64, feature.unit, feature.formula) for feature in FEATURES
    )
    return columns


def described_columns(table: str, types: Mapping[str, tuple[Kind, int]]) -> tuple[Column, ...]:
    """Columns with their kind and bits, and with unit and description from ``data/columns.csv``."""
    rows = csv.DictReader(declared("columns.csv").splitlines())
    described = {
        row["column"]: (row["unit"], row["description"]) for row in rows if row["table"] == table
    }
    for name in [*types, *described]:
        if name not in types or name not in described:
            place = "failbench/publish/datacard/data/columns.csv"
            problem = "the table has no such column." if name in described else "is not described."
            remedy = "Make its rows those of the table."
            raise BadInputError(place, f"{table}.{name}", problem, remedy)
    return tuple(Column(name, *types[name], *described[name]) for name in types)


def _stored(dtype: pl.DataType) -> tuple[Kind, int]:
    bits = "".join(letter for letter in str(dtype) if letter.isdigit())
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "number", int(bits)
    return "text", 0


def _kind(annotation: object) -> Kind:
    if get_origin(annotation) in {UnionType, Union} and type(None) in get_args(annotation):
        return "text or none"
    record = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return "object" if record or get_origin(annotation) is dict else "text"


def croissant(citation: Citation, statements: Statements, tables: Sequence[MainTable]) -> str:
    """The main tables' description as JSON-LD, without time, place or version of a tool."""
    said = statements.model_dump(mode="json", by_alias=True)
    unintended = [f"Not intended: {use}" for use in statements.unintended_uses]
    said |= {
        "rai:dataUseCases": [*statements.intended_uses, *unintended],
        "rai:personalSensitiveInformation": [statements.personal],
    }
    document = {
        "@context": json.loads(declared("context.json")),
        "@type": "sc:Dataset",
        "name": "failbench",
        "description": f"{citation.title}. {citation.abstract}",
        "conformsTo": CONFORMS_TO,
        "citeAs": citation.bibtex,
        "creator": [{"@type": "sc:Organization", "name": each.name} for each in citation.authors],
        "datePublished": citation.date_released.isoformat(),
        "inLanguage": "en",
        "isLiveDataset": False,
        "keywords": citation.keywords,
        "license": statements.licence_url,
        "version": citation.version,
        **{name: said[name] for name in sorted(said) if name.startswith("rai:")},
        "distribution": [part for table in tables for part in _distribution(table)],
        "recordSet": [_record_set(table) for table in tables],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _named(kind: str, name: str) -> dict[str, Any]:
    return {"@type": f"cr:{kind}", "@id": name, "name": name}


def _distribution(table: MainTable) -> Iterator[dict[str, Any]]:
    for file in table.files:
        yield {
            **_named("FileObject", file.path),
            "contentUrl": file.path,
            "contentSize": f"{file.size} B",
            "encodingFormat": file.media_type,
            "sha256": file.sha256,
        }
    if len(table.files) > 1:
        yield {
            **_named("FileSet", f"files-of-{table.name}"),
            "description": table.content,
            "encodingFormat": table.files[0].media_type,
            "includes": [file.path for file in table.files],
        }


def _record_set(table: MainTable) -> dict[str, Any]:
    return {
        **_named("RecordSet", table.name),
        "description": f"{table.content} (rows: {table.rows}; {DATA}{table.pattern})",
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": [_field(table, each) for each in table.columns if each.kind in DATA_TYPES],
    }


def _field(table: MainTable, column: Column) -> dict[str, Any]:
    source = {"fileObject": {"@id": table.files[0].path}}
    if len(table.files) > 1:
        source = {"fileSet": {"@id": f"files-of-{table.name}"}}
    in_json = table.files[0].media_type == "application/json"
    unit = f" [{column.unit}]" if column.unit else ""
    return {
        **_named("Field", f"{table.name}/{column.name}"),
        "description": f"{column.description}{unit}",
        "dataType": DATA_TYPES[column.kind],
        "source": {
            **source,
            "extract": {"jsonPath": f"$.{column.name}"} if in_json else {"column": column.name},
        },
    }
