"""What the data card is made of: broken declarations are refused, by name."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.publish.datacard.citation import Citation
from failbench.publish.datacard.columns import columns_of_table
from failbench.publish.datacard.croissant import croissant
from failbench.publish.datacard.dictionary import entry_of, read_dictionary
from failbench.publish.datacard.main_tables import main_tables
from failbench.publish.datacard.statements import Statements, statements

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
    path = tmp_path / "files.csv"
    path.write_text("path,content,key\na,b,c\n", encoding="utf-8")
    with pytest.raises(BadInputError, match=r"no row is about data/runs\.parquet"):
        entry_of(read_dictionary(path), "data/runs.parquet", path)


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({"repeat": pl.Int32, "fold": pl.Int32, "scenario": pl.String, "new": pl.Int8}, "new"),
        ({"repeat": pl.Int32, "fold": pl.Int32}, "scenario"),
    ],
)
def test_columns_and_their_descriptions_must_agree(schema, field):
    with pytest.raises(BadInputError) as error:
        columns_of_table("splits", pl.Schema(schema))
    assert named(error) == f"failbench/publish/datacard/data/columns.csv splits.{field}"


def said_of(numbers: str) -> Statements:
    names = (
        "parameters_low parameters_high parameters_median layers vocabulary planned_low "
        "planned_high unknown replaced replacements python_version torch_version"
    )
    return statements(dict.fromkeys(names.split(), numbers))


def small_tables(folder, monkeypatch):
    """The main tables, each with one small file."""
    monkeypatch.chdir(folder)
    dictionary = ["path,content,key"]
    paths = {}
    for name, path, inside in (
        ("scenarios", "data/scenarios/<category>/<id>.json", "data/scenarios/a/b.json"),
        ("runs", "data/telemetry/runs.parquet", "data/telemetry/runs.parquet"),
        ("steps", "data/telemetry/steps/<architecture>-<optimizer>.parquet", "data/s.parquet"),
        ("features", "data/features/features.parquet", "data/features/features.parquet"),
        ("splits", "data/features/splits.parquet", "data/features/splits.parquet"),
        ("predictions", "data/predictions/nested_cv/<method>.parquet", "data/p.parquet"),
        (
            "predictions_across_architectures",
            "data/predictions/across_architectures/<method>.parquet",
            "data/q.parquet",
        ),
        ("files", "data/files.csv", "data/files.csv"),
    ):
        dictionary.append(f"{path},what,run_id")
        paths[name] = [folder.joinpath(inside).relative_to(folder)]
        folder.joinpath(inside).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(inside).write_text(name, encoding="utf-8")
    folder.joinpath("data/files.csv").write_text("\n".join(dictionary) + "\n", encoding="utf-8")
    place = paths["files"][0]
    return lambda: main_tables(read_dictionary(place), place, paths, dict.fromkeys(paths, 7))


def test_a_changed_byte_changes_the_hash_of_its_file_and_nothing_else(tmp_path, monkeypatch):
    tables = small_tables(tmp_path, monkeypatch)
    before = croissant(CITATION, said_of("1"), tables())
    assert before == croissant(CITATION, said_of("1"), tables())
    (tmp_path / "data/p.parquet").write_text("prediction5", encoding="utf-8")
    after = croissant(CITATION, said_of("1"), tables())
    changed = [
        (old.split(":")[0].strip(), new.split(":")[0].strip())
        for old, new in zip(before.splitlines(), after.splitlines(), strict=True)
        if old != new
    ]
    assert changed == [('"sha256"', '"sha256"')]
