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
def diagnose(tmp_path, capsys):
    """The status of the command for a text, and what it printed."""

    def run(text, *options, name="train.log"):
        (tmp_path / name).write_text(text)
        status = main(["diagnose", str(tmp_path / name), *map(str, options)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_a_failure_is_a_page_and_exit_status_1(diagnose):
    status, page, _ = diagnose(UNEVEN)
    assert status == 1
    assert page.startswith("Failed: data pipeline")
    assert "train.log:5" in page
    assert "What to change" in page


def test_a_healthy_log_is_exit_status_0_and_one_that_says_nothing_2(diagnose):
    status, page, _ = diagnose(HEALTHY)
    assert (status, page[:7]) == (0, "Healthy")
    assert diagnose(HEALTHY, "--failed")[0] == 3
    status, page, error = diagnose("the moon is full\n", name="train\x1b[31m.log")
    assert (status, page, error.count("\n")) == (2, "", 1)
    assert "\x1b" not in error


def test_a_document_is_as_the_published_schema_says(diagnose, tmp_path):
    page, plot = tmp_path / "why.html", tmp_path / "why.svg"
    status, document, _ = diagnose(UNEVEN, "--json", "--html", page, "--plot", plot)
    document = json.loads(document)
    jsonschema.validate(document, schema())
    assert status == 1
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
        ("--method simple_rules", "--method"), ("--features features.parquet", "--features"),
        ("--output a.csv --json", "--json"), ("--output a.csv --all", "--all"),
        ("--output a.csv --run x", "--run"),
        ("--output a.csv --code a.py", "--code"), ("--plot why.gif", ".gif"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(diagnose, options, named):
    status, page, error = diagnose(UNEVEN, *options.split())
    assert (status, page) == (2, "")
    assert named in error
