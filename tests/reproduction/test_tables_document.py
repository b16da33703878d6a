"""All tables in one document, through typst itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from failbench.cli import main

TABLES = Path("paper/tables")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TABLES.mkdir(parents=True)
    for name in ("a", "b"):
        (TABLES / f"{name}.typ").write_text(f"#table([{name}])\n", encoding="utf-8")


@pytest.mark.usefixtures("project")
def test_every_table_is_on_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables"]) == 0
    content = Path("paper/tables.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/Type/Pages/Count 2/" in content
    assert "its 2 tables" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_a_table_that_does_not_compile_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    (TABLES / "b.typ").write_text("#table([b)\n", encoding="utf-8")
    assert main(["tables"]) == 2
    error = capsys.readouterr().err
    assert "a table does not compile: unclosed" in error
    assert error.count("\n") == 1
    assert not Path("paper/tables.pdf").exists()


def test_a_folder_without_tables_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tables"]) == 2
    assert capsys.readouterr().err == "paper/tables: *.typ: there is no table. Run `dvc repro`.\n"


@pytest.mark.usefixtures("project")
def test_without_typst_the_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    assert main(["tables"]) == 2
    assert "failbench[dev]" in capsys.readouterr().err
