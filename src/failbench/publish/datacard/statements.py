"""Statements: what the data card says that is declared: its citation, its sentences, its files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record

Text = Annotated[str, Field(min_length=1)]
Sentences = tuple[str, ...]

COLUMNS = ("path", "content", "key")
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

    path: str
    content: str
    key: str


def read_dictionary(path: Path) -> tuple[Entry, ...]:
    """Read the dictionary of files."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            columns, rows = tuple(reader.fieldnames or ()), list(reader)
    except (OSError, ValueError, csv.Error) as error:
        raise BadInputError(path, "(file)", "is missing or is not CSV.", REMEDY) from error
    if columns != COLUMNS:
        raise BadInputError(path, "(columns)", f"must be {', '.join(COLUMNS)}.", REMEDY)
    if not rows:
        raise BadInputError(path, "(rows)", "there are none.", REMEDY)
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values() or not row["path"] or not row["content"]:
            raise BadInputError(f"{path}:{number}", "content", "is missing or is too long.", REMEDY)
    return tuple(Entry(**row) for row in rows)
