"""The command ``diagnose LOG``: what it prints and writes, and how it ends."""

import io
import json
import math
import sys

import jsonschema
import pytest

from failbench.cli.main import main
from failbench.diagnose.outputs.document import schema

UNEVEN = """\
step=1 loss=3.0
Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    for batch in loader:
RuntimeError: stack expects each tensor to be equal size, but got [4] at entry 0 and [5] at entry 1
"""
HEALTHY = "\n".join(f"step={step} loss={9 * math.exp(-step / 80):.4f}" for step in range(120))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(UNEVEN)
    return path


def test_a_failure_is_a_page_and_exit_status_1(log, capsys):
    assert main(["diagnose", str(log)]) == 1
    page = capsys.readouterr().out
    assert page.startswith("Failed: data pipeline")
    assert "train.log:5" in page
    assert "What to change" in page


def test_a_healthy_log_is_exit_status_0(tmp_path, capsys):
    path = tmp_path / "train.log"
    path.write_text(HEALTHY)
    assert main(["diagnose", str(path)]) == 0
    assert capsys.readouterr().out.startswith("Healthy")
    assert main(["diagnose", str(path), "--failed"]) == 3


def test_a_text_that_says_nothing_is_exit_status_2(tmp_path, capsys):
    path = tmp_path / "train\x1b[31m.log"
    path.write_text("the moon is full\n")
    assert main(["diagnose", str(path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert "\x1b" not in printed.err


def test_a_document_is_as_the_published_schema_says(log, tmp_path, capsys):
    page, plot = tmp_path / "why.html", tmp_path / "why.svg"
    options = ["--json", "--html", str(page), "--plot", str(plot)]
    assert main(["diagnose", str(log), *options]) == 1
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert document["analysis_artifacts"] == {"page": str(page), "curves": str(plot)}
    assert page.is_file()
    assert plot.is_file()


def test_a_paste_is_read_from_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(UNEVEN.encode())))
    assert main(["diagnose", "-"]) == 1
    assert "line 5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--method", "simple_rules"], "--method"),
        (["--features", "features.parquet"], "--features"),
        (["--output", "a.csv", "--json"], "--json"),
        (["--output", "a.csv", "--run", "x"], "--run"),
        (["--output", "a.csv", "--code", "a.py"], "--code"),
        (["--plot", "why.gif"], ".gif"),
    ],
)
def test_options_that_do_not_fit_are_refused(log, capsys, options, named):
    assert main(["diagnose", str(log), *options]) == 2
    assert named in capsys.readouterr().err
