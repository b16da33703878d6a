"""Dictionary: data/files.csv, which says of every file what it is."""

from __future__ import annotations

import csv
from pathlib import Path

from failbench.base.errors import BadInputError
from failbench.base.records import Record

COLUMNS = ("path", "content", "key")
REMEDY = "Restore it with git, or give each file its path, content and key."


class Entry(Record):
    """A row: files of one kind."""

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


def entry_of(dictionary: tuple[Entry, ...], path: str, place: Path) -> Entry:
    """The row of a path."""
    for entry in dictionary:
        if entry.path == path:
            return entry
    raise BadInputError(place, "path", f"no row is about {path}.", "Add one.")
