"""data/files.csv says what every file of data, figures and tables is."""

from __future__ import annotations

import csv
import re
import subprocess
from fnmatch import fnmatchcase
from functools import cache

import pytest

from pipeline import REPOSITORY

ROWS = list(csv.DictReader((REPOSITORY / "data/files.csv").open(encoding="utf-8")))
DESCRIBED = ("data", "figures", "paper/tables", "paper/paper.pdf", "paper/report.html")
WRITTEN_LATER = {
    "data/llm/<label>.jsonl",  # by `make llm`, once somebody asks models
    "data/llm/crashes/<label>.jsonl",  # likewise
    "data/telemetry/carried.csv",  # by `failbench carry`, once fingerprints are carried over
}
"""What may be committed and need not."""
STYLE = {"figures/matplotlibrc"}


def patterns(path: str) -> list[str]:
    """A path of the dictionary as shell patterns: ``<name>`` is any name, ``{a,b}`` are two."""
    alternatives = re.search(r"\{([\w,]+)\}", path)
    endings = alternatives.group(1).split(",") if alternatives else [""]
    paths = [path.replace(alternatives.group(), end) if alternatives else path for end in endings]
    return [re.sub(r"<[^>]+>", "*", each) for each in paths]


@cache
def committed() -> list[str]:
    """Every committed file that the dictionary describes."""
    listed = subprocess.check_output(["git", "ls-files", *DESCRIBED], cwd=REPOSITORY, text=True)
    return listed.splitlines()


def test_a_pattern_stands_for_every_name_and_every_ending():
    assert patterns("a/<method>.{md,typ}") == ["a/*.md", "a/*.typ"]


@pytest.mark.parametrize("path", sorted(set(committed()) - STYLE))
def test_every_committed_file_is_in_the_dictionary(path):
    assert any(fnmatchcase(path, pattern) for row in ROWS for pattern in patterns(row["path"]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["path"])
def test_every_row_of_the_dictionary_stands_for_files_that_are_there(row):
    files = committed()
    if row["path"] not in WRITTEN_LATER:
        for pattern in patterns(row["path"]):
            assert any(fnmatchcase(path, pattern) for path in files), pattern
    assert row["content"]


def test_no_path_stands_twice():
    paths = [row["path"] for row in ROWS]
    assert len(set(paths)) == len(paths)
