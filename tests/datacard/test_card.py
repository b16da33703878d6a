import hashlib
import itertools
import json
import logging
import re
from fnmatch import fnmatchcase

import mlcroissant
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.publish.datacard.main_tables import (
    columns_by_table,
    described_columns,
    read_dictionary,
)
from pipeline import REPOSITORY, patterns, tracked

CARD = (REPOSITORY / "data/README.md").read_text(encoding="utf-8")
CELLS = {
    cell.strip().replace("\\", "")
    for line in CARD.splitlines()
    if line.startswith("|")
    for cell in re.split(r"(?<!\\)\|", line)
}
"""The cells of all its tables, without what escapes markup."""


NAMED = [pattern for cell in CELLS if cell.startswith("data/") for pattern in patterns(cell)]


def test_every_committed_file_of_data_is_in_the_card():
    assert len(tracked("data")) > 600
    assert [path for path in tracked("data") if not any(fnmatchcase(path, p) for p in NAMED)] == []


@pytest.mark.parametrize(("table", "columns"), columns_by_table().items())
def test_every_column_is_in_the_card_with_what_it_holds_and_a_number_has_a_unit(table, columns):
    for column in columns:
        assert column.description
        assert {column.name, column.stored, column.unit} <= CELLS, f"{table}.{column.name}"
        assert column.unit or column.kind != "number", f"{table}.{column.name}"


def named(error: pytest.ExceptionInfo[BadInputError]) -> str:
    return f"{error.value.place} {error.value.field}"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "(rows)"),
        ("path,content,key\n", "(rows)"),
        ("path,content,more\na,b,c\n", "files.csv, line 2 key"),
        ("path,content,key\na,b,c,d\n", "files.csv, line 2 (more)"),
        ("path,content,key\na,,c\n", "files.csv, line 2 content"),
        ('path,content,key\n"a\n', "files.csv, line 2 content"),
        ("\udcff", "(file)"),
    ],
)
def test_a_broken_dictionary_of_files_is_named(tmp_path, text, field):
    path = tmp_path / "files.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInputError) as error:
        read_dictionary(path)
    assert field in named(error)


@pytest.mark.parametrize(
    ("names", "field"),
    [(("repeat", "fold", "scenario", "new"), "new"), (("repeat", "fold"), "scenario")],
)
def test_columns_and_their_descriptions_must_agree(names, field):
    with pytest.raises(BadInputError) as error:
        described_columns("splits", dict.fromkeys(names, ("text", 0)))
    assert named(error) == f"failbench/publish/datacard/data/columns.csv splits.{field}"


DATA = REPOSITORY / "data"
DOCUMENT = DATA / "croissant.json"
DESCRIBED = json.loads(DOCUMENT.read_text(encoding="utf-8"))
FILES = {part["@id"]: part for part in DESCRIBED["distribution"] if "sha256" in part}
RECORD_SETS = {part["@id"]: part for part in DESCRIBED["recordSet"]}


@pytest.fixture(scope="module")
def dataset() -> mlcroissant.Dataset:
    return mlcroissant.Dataset(DOCUMENT)


def test_it_is_valid_without_error_or_warning(caplog):
    with caplog.at_level(logging.WARNING):
        validated = mlcroissant.Dataset(DOCUMENT)
    issues = validated.metadata.ctx.issues
    assert (issues.errors, issues.warnings, caplog.records) == (set(), set(), [])


@pytest.mark.parametrize("path", FILES)
def test_a_file_has_the_hash_and_the_size_that_are_stated(path):
    content = (DATA / path).read_bytes()
    assert FILES[path]["contentUrl"] == path
    assert FILES[path]["sha256"] == hashlib.sha256(content).hexdigest(), "Run `dvc repro`."
    assert FILES[path]["contentSize"] == f"{len(content)} B"


def columns_in(path: str) -> list[str]:
    if path.endswith(".csv"):
        return pl.read_csv(DATA / path, n_rows=1).columns
    return list(pl.read_parquet_schema(DATA / path))


@pytest.mark.parametrize("name", sorted(RECORD_SETS.keys() - {"scenarios"}))
def test_the_fields_of_a_table_are_its_columns(name):
    fields = [field["source"] for field in RECORD_SETS[name]["field"]]
    source = fields[0].get("fileObject") or fields[0]["fileSet"]
    sets = {
        part["@id"]: part["includes"] for part in DESCRIBED["distribution"] if "includes" in part
    }
    for path in sets.get(source["@id"], [source["@id"]]):
        assert [field["extract"]["column"] for field in fields] == columns_in(path)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("runs", "telemetry/runs.parquet"),
        ("features", "features/features.parquet"),
        ("splits", "features/splits.parquet"),
        ("predictions", "predictions/nested_cv/decision_tree.parquet"),
    ],
)
def test_rows_are_read_by_it_as_they_are(dataset, name, path):
    expected = pl.read_parquet(DATA / path).head(20).rows(named=True)
    for record, row in zip(itertools.islice(dataset.records(name), 20), expected, strict=True):
        for column, value in row.items():
            read = record[f"{name}/{column}"]
            read = read.decode() if isinstance(read, bytes) else read
            assert read == value or (value is None and read is None), column
