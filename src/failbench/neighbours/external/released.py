"""The files of feature tables that the authors of DEFault released, and a compact copy of them.

The copy holds what the files hold: written back as CSV, it is the released file byte for byte, so
that the hash of a released file is a check of its copy too.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Final

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows
from failbench.base.telemetry import write_parquet
from failbench.neighbours.external.tables import BY_HAND, TABLES, path_of

SOURCES: Final = "sources.csv"
"""Beside the tables: the released files, with their sizes and hashes."""

REPOSITORY: Final = "the repository that PROVENANCE.md names"


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
        raise BadInputError(
            path,
            "sha256",
            f"is {digest[:16]}..., and {SOURCES} has {source.sha256[:16]}...",
            f"Fetch {source.folder}/{source.source} at the commit that PROVENANCE.md names.",
        )
    return content
