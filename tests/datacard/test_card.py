"""The committed data card: it names every file and column, and its numbers are the data's."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatchcase

import polars as pl
import pytest

from failbench.publish.datacard.main_tables import columns_by_table
from pipeline import REPOSITORY

CARD = (REPOSITORY / "data/README.md").read_text(encoding="utf-8")
CELLS = {
    cell.strip().replace("\\", "")
    for line in CARD.splitlines()
    if line.startswith("|")
    for cell in re.split(r"(?<!\\)\|", line)
}
"""The cells of all its tables, without what escapes markup."""


def named_by(path: str) -> list[str]:
    """Shell patterns of a path as the card writes it: ``<name>`` is any, ``{a,b}`` are two."""
    choice = re.search(r"\{([\w,]+)\}", path)
    ends = choice.group(1).split(",") if choice else [""]
    paths = [path.replace(choice.group(), end) if choice else path for end in ends]
    return [re.sub(r"<[^>]+>", "*", each) for each in paths]


NAMED = [pattern for cell in CELLS if cell.startswith("data/") for pattern in named_by(cell)]
COMMITTED = subprocess.check_output(
    ["git", "ls-files", "data"], cwd=REPOSITORY, text=True
).splitlines()


def test_every_committed_file_of_data_is_in_the_card():
    assert len(COMMITTED) > 600
    assert [path for path in COMMITTED if not any(fnmatchcase(path, p) for p in NAMED)] == []


@pytest.mark.parametrize(("table", "columns"), columns_by_table().items())
def test_every_column_is_in_the_card_with_what_it_holds(table, columns):
    for column in columns:
        assert column.description
        assert {column.name, column.stored, column.unit} <= CELLS, f"{table}.{column.name}"


def test_a_number_has_a_unit():
    bare = [
        f"{table}.{column.name}"
        for table, columns in columns_by_table().items()
        for column in columns
        if column.kind == "number" and not column.unit
    ]
    assert bare == []


def test_its_first_numbers_are_those_of_the_recordings():
    runs = pl.read_parquet(REPOSITORY / "data/telemetry/runs.parquet")
    failed = runs.filter(kind="failure")
    sentence = (
        f"{runs.height:,} recorded runs of {runs['scenario'].drop_nulls().n_unique()} scenarios in "
        f"{runs.select('architecture', 'optimizer', 'scale').n_unique()} settings, "
        f"with {runs['steps'].sum():,} steps; {failed.height:,} of them failed."
    )
    assert sentence in CARD


def test_every_path_that_it_names_in_prose_is_there():
    named = set(re.findall(r"`((?:data|docs|src|paper)/[\w./<>]+)`", CARD))
    missing = [p for p in named if not list(REPOSITORY.glob(re.sub(r"<\w+>", "*", p.rstrip("/"))))]
    assert named
    assert missing == []
