""".ci/run installs what it may, says what is not run, and goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline import REPOSITORY

TOOLS = ("bash", "dirname", "timeout")
"""What the script calls and every machine has."""


def run(folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run the script where nothing is installed but these programs, each a line of shell."""
    shutil.copytree(REPOSITORY / ".ci", folder / "repository/.ci")
    binaries = folder / "bin"
    binaries.mkdir()
    for tool in TOOLS:
        (binaries / tool).symlink_to(Path(shutil.which(tool) or tool).resolve())
    for name, line in {"make": 'echo "make $*"', "id": "echo 0", **programs}.items():
        path = binaries / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)
    return subprocess.run(
        [folder / "repository/.ci/run"],
        env={"PATH": str(binaries), "TMPDIR": os.environ.get("TMPDIR", "/tmp")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


ALL = "make lint\nmake test\nmake system-test\n"
NOT_RUN = ["pages in a browser", "LaTeX tables", "LaTeX tables with adjustbox"]


def not_run(result: subprocess.CompletedProcess[str]) -> list[str]:
    """What it says is not run."""
    lines = [line for line in result.stderr.splitlines() if line.startswith("Not run: ")]
    return [line.split(" of ", 1)[1].split(";")[0] for line in lines]


def test_where_everything_is_there_nothing_is_installed(tmp_path):
    there = dict.fromkeys(("chromium", "pdflatex", "kpsewhich"), "exit 0")
    result = run(tmp_path, apt_get='echo "apt-get $*"; exit 1', **there)
    assert (result.returncode, result.stdout, result.stderr) == (0, ALL, "")


def test_what_is_missing_is_installed(tmp_path):
    result = run(tmp_path, apt_get='echo "apt-get $*"')
    for package in ("chromium", "texlive-latex-recommended", "texlive-latex-extra"):
        assert f"install --yes --no-install-recommends {package}\n" in result.stderr
    assert (result.returncode, result.stdout) == (0, ALL)


@pytest.mark.parametrize(
    "programs",
    [{}, {"apt_get": "exit 100"}, {"apt_get": "exit 0", "id": "echo 1000"}],
    ids=["no apt-get", "no package", "no root"],
)
def test_where_it_may_not_install_it_says_what_is_not_run_and_goes_on(tmp_path, programs):
    result = run(tmp_path, **programs)
    assert (result.returncode, result.stdout) == (0, ALL)
    assert not_run(result) == NOT_RUN


def test_the_first_failure_ends_it(tmp_path):
    result = run(tmp_path, make='echo "make $*"; [ "$1" != test ]')
    assert result.stdout == "make lint\nmake test\n"
    assert result.returncode != 0
