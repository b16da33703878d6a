"""What the data card is made of: broken declarations are refused, by name."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.publish.datacard.main_tables import (
    Citation,
    Entry,
    croissant,
    declared,
    described_columns,
    main_tables,
    read_dictionary,
    statements,
)

CITATION = Citation.model_validate(
    {
        "cff-version": "1.2.0",
        "message": "Cite it.",
        "title": "A title",
        "type": "software",
        "version": "1.2.3",
        "date-released": "2026-11-24",
        "license": "MIT",
        "authors": [{"name": "A"}, {"name": "B"}],
        "abstract": "What it is.",
        "keywords": ["word"],
    }
)


def named(error: pytest.ExceptionInfo[BadInputError]) -> str:
    return f"{error.value.place} {error.value.field}"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "(columns)"),
        ("path,content\na,b\n", "(columns)"),
        ("path,content,key\n", "(rows)"),
        ("path,content,key\na,,\n", "files.csv:2 content"),
        ("path,content,key\na,b,c,d\n", "files.csv:2 content"),
        ('path,content,key\n"a\n', "(file)"),
        ("\udcff", "(file)"),
    ],
)
def test_a_broken_dictionary_of_files_is_named(tmp_path, text, field):
    path = tmp_path / "files.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInputError) as error:
        read_dictionary(path)
    assert field in named(error)


def test_a_table_without_a_row_in_the_dictionary_is_named(tmp_path):
    with pytest.raises(BadInputError, match=r"no row is about data/scenarios/"):
        main_tables((), tmp_path, {}, {})


@pytest.mark.parametrize(
    ("names", "field"),
    [(("repeat", "fold", "scenario", "new"), "new"), (("repeat", "fold"), "scenario")],
)
def test_columns_and_their_descriptions_must_agree(names, field):
    with pytest.raises(BadInputError) as error:
        described_columns("splits", dict.fromkeys(names, ("text", 0)))
    assert named(error) == f"failbench/publish/datacard/data/columns.csv splits.{field}"


def said_of(numbers):
    names = (
        "parameters_low parameters_high parameters_median layers vocabulary planned_low "
        "planned_high unknown replaced replacements python_version torch_version"
    )
    return statements(dict.fromkeys(names.split(), numbers))


def small_tables(folder, monkeypatch):
    """The main tables, each with one small file."""
    monkeypatch.chdir(folder)
    dictionary, paths = [], {}
    for row in csv.DictReader(declared("tables.csv").splitlines()):
        dictionary.append(Entry(path=row["path"], content="what", key="run_id"))
        paths[row["table"]] = [Path("data", f"{row['table']}.parquet")]
        Path("data").mkdir(exist_ok=True)
        paths[row["table"]][0].write_text(row["table"], encoding="utf-8")
    return lambda: main_tables(dictionary, Path(), paths, dict.fromkeys(paths, 7))


def test_a_changed_byte_changes_the_hash_of_its_file_and_nothing_else(tmp_path, monkeypatch):
    tables = small_tables(tmp_path, monkeypatch)
    before = croissant(CITATION, said_of("1"), tables())
    assert before == croissant(CITATION, said_of("1"), tables())
    (tmp_path / "data/predictions.parquet").write_text("prediction5", encoding="utf-8")
    after = croissant(CITATION, said_of("1"), tables())
    changed = [
        (old.split(":")[0].strip(), new.split(":")[0].strip())
        for old, new in zip(before.splitlines(), after.splitlines(), strict=True)
        if old != new
    ]
    assert changed == [('"sha256"', '"sha256"')]
