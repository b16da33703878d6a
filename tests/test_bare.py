import json
import subprocess
import sys
from pathlib import Path

import pytest

from bare_environment import REPOSITORY, absent_modules
from failbench.cli.main import commands

BLOCKED = """
import sys
for name in {names!r}:
    sys.modules[name] = None
{program}
"""
COMMAND = "from failbench.cli.main import main; sys.exit(main(sys.argv[1:]))"
LOG = "".join(f"step {step} loss {3 - step / 10:.2f}\n" for step in range(12)) + (
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"
)
CELLS = [
    {"cell_type": "code", "source": "x = [1]", "execution_count": 1, "outputs": []},
    {"cell_type": "code", "source": "x[2]", "execution_count": None, "outputs": []},
]


@pytest.fixture(scope="module")
def names() -> list[str]:
    absent = absent_modules()
    assert absent >= {"polars", "scipy", "pandas", "matplotlib", "sklearn", "torch", "dvc"}
    assert absent.isdisjoint({"numpy", "pydantic", "yaml", "rich", "cyclopts"})
    return sorted(absent)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.log").write_text(LOG, encoding="utf-8")
    notebook = {"nbformat": 4, "nbformat_minor": 2, "cells": CELLS}
    (tmp_path / "tried.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (tmp_path / "known.json").write_text(
        '{"relevant": [], "names": {}, "truncated": false}', encoding="utf-8"
    )
    return tmp_path


def bare(
    names: list[str], program: str, *arguments: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED.format(names=names, program=program), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--help"], 0, "failbench diagnose train.log"),
        (["diagnose", "--help"], 0, "--html"),
        (["diagnose", "train.log"], 1, "Shapes of two layers or tensors do not fit"),
        (["diagnose", "train.log", "--html", "why.html"], 1, "page written to why.html"),
        (["read", "train.log"], 0, "loss (train): 12 values"),
        (["inspect", "train.log"], 0, "loss (train): 12 values"),
        (["foresee", "tried.ipynb", "--code-only"], 1, "will crash in line 1, IndexError"),
        (["foresee", "tried.ipynb", "--summary", "known.json"], 1, "Dry run    cannot say"),
    ],
)
def test_the_tool_needs_no_more(
    names: list[str], folder: Path, arguments: list[str], status: int, words: str
) -> None:
    done = bare(names, COMMAND, *arguments, folder=folder)
    assert done.returncode == status, done.stderr
    assert words in done.stdout + done.stderr


def test_every_help_needs_no_more(names: list[str], folder: Path) -> None:
    program = (
        "from failbench.cli.main import commands, main\n"
        "for name in commands(): print(f'{name}: {main([name, \"--help\"])}')"
    )
    done = bare(names, program, folder=folder)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    for name in commands():
        assert f"Usage: failbench {name}" in done.stdout
        assert f"{name}: 0" in done.stdout.splitlines()


def test_the_check_needs_no_recorder() -> None:
    names = ["tokenizers", "torch", "transformers"]
    done = bare(names, COMMAND, "check", "--brief", folder=REPOSITORY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("The check passes.")


def test_the_monitor_is_imported_without_more(names: list[str], tmp_path: Path) -> None:
    done = bare(names, "import failbench.monitor, failbench.preflight.page", folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["check"], "failbench check: needs polars: pip install 'failbench[lab]'"),
        (["lens", "fft", "a.csv"], "failbench lens: needs polars: pip install 'failbench[lab]'"),
        (
            ["diagnose", "train.log", "--plot", "curves.svg"],
            "environment: matplotlib: is not installed, and a picture needs it. Run `pip install",
        ),
        (["mcp"], "failbench mcp: needs mcp: pip install 'failbench[mcp]'"),
        (
            ["diagnose", "train.log", "--llm", "mistral"],
            "failbench diagnose: needs httpx: pip install 'failbench[llm]'",
        ),
        (["preflight", "train.py"], "preflight: torch: is not installed. Run this where your"),
    ],
)
def test_what_needs_an_extra_says_which_in_one_line(
    names: list[str], folder: Path, arguments: list[str], sentence: str
) -> None:
    done = bare(names, COMMAND, *arguments, folder=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
