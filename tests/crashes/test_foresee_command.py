import json
import sys
from types import SimpleNamespace

import pytest

from failbench.base.errors import BadInputError
from failbench.cli import crashes
from failbench.cli.main import main
from failbench.crashes.prediction import CrashPrediction, Predictor


@pytest.fixture
def notebook(tmp_path):
    cells = [
        {"cell_type": "code", "source": source, "execution_count": count, "outputs": []}
        for source, count in (("%pylab\nx = [1, 2]", 1), ("y = x[2:]", 2), ("y[0]", None))
    ]
    path = tmp_path / "tried.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 2, "cells": cells}))
    return path


@pytest.fixture
def questions(monkeypatch):
    """Predictors that note what they are asked: one foresees a crash, one cannot work here."""
    asked = []

    def predict(question):
        asked.append(question)
        return CrashPrediction(True, "IndexError", "The list is empty.", 1)

    def refuse(_):
        raise BadInputError("sandbox", "namespaces", "are not granted.", "Ask for them.")

    monkeypatch.setitem(sys.modules, "sure", SimpleNamespace(predict=predict))
    monkeypatch.setitem(sys.modules, "refused", SimpleNamespace(predict=refuse))
    both = (
        Predictor("rules", "Rules", "sure", ("code", "all"), recorded=False),
        Predictor("dry_run", "Dry run", "refused", ("all",), recorded=True),
    )
    monkeypatch.setattr(crashes, "PREDICTORS", both)
    return asked


def run(*arguments):
    return main(["foresee", *map(str, arguments)])


def test_the_cells_before_are_executed_and_what_they_made_is_told(notebook, questions, capsys):
    pytest.importorskip("ipykernel")
    assert run(notebook) == 1
    (question,) = questions
    assert question.target == "y[0]"
    assert question.summary.names["y"]["structural"] == {"length": 0}
    printed = capsys.readouterr().out
    assert "will crash in line 1, IndexError: The list is empty." in printed
    assert "not available: sandbox: namespaces: are not granted." in printed


def test_what_an_exception_says_does_not_drive_the_terminal(
    notebook, questions, capsys, monkeypatch
):
    said = CrashPrediction(True, "ValueError", "red \x1b[31mand\nnext line \x07")
    monkeypatch.setattr(sys.modules["sure"], "predict", lambda _: said)
    run(notebook, "--code-only")
    printed = capsys.readouterr().out
    assert "ValueError: red and next line" in printed
    assert not {"\x1b", "\x07"} & set(printed)


def test_code_alone_executes_nothing_and_asks_who_reads_code(notebook, questions, capsys):
    assert run(notebook, "--code-only", "--json") == 1
    (question,) = questions
    assert question.summary is None
    document = json.loads(capsys.readouterr().out)
    assert document["told"] == "code"
    assert document["predictions"].keys() == {"rules"}


def test_a_summary_that_was_made_elsewhere_is_told(notebook, questions, tmp_path):
    path = tmp_path / "summary.json"
    path.write_text(json.dumps({"relevant": ["y"], "names": {}, "truncated": False}))
    assert run(notebook, "--summary", path) == 1
    assert questions[0].summary.absent == ("y",)


@pytest.mark.system
def test_data_beside_the_notebook_are_copied_and_a_cell_before_that_raises_is_named(
    notebook, questions, tmp_path, capsys
):
    pytest.importorskip("ipykernel")
    whole = notebook.read_text()
    notebook.write_text(whole.replace("y = x[2:]", "y = z"))
    assert run(notebook) == 2
    error = capsys.readouterr().err
    assert "executed cell 1" in error
    assert "NameError" in error
    files = tmp_path / "files"
    files.mkdir()
    (files / "numbers.txt").write_text("4")
    notebook.write_text(whole.replace("x[2:]", "[int(open('numbers.txt').read())]"))
    run(notebook, "--files", files)
    assert questions[0].summary.names["y"]["structural"] == {"length": 1}
    assert [path.name for path in files.iterdir()] == ["numbers.txt"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "9"), "cells.9"),
        (("--summary", "missing.json"), "missing.json"),
        (("--code-only", "--predictor", "dry_run"), "namespaces"),  # one that is named must work
    ],
)
def test_bad_input_is_one_line(notebook, questions, capsys, arguments, words):
    assert run(notebook, *arguments) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert words in line
    assert not questions
