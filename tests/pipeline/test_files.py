import csv
from fnmatch import fnmatchcase

import pytest

from pipeline import REPOSITORY, patterns, tracked

ROWS = list(csv.DictReader((REPOSITORY / "data/files.csv").open(encoding="utf-8")))
DESCRIBED = ("data", "figures", "paper/tables", "paper/paper.pdf", "paper/report.html")
WRITTEN_LATER = {
    "data/llm/<label>.jsonl",  # by `make llm`, once somebody asks models
    "data/llm/crashes/<label>.jsonl",  # likewise
    "data/telemetry/carried.csv",  # by `failbench carry`, once fingerprints are carried over
}
"""What may be committed and need not."""
FILES = [path for path in tracked(*DESCRIBED) if path != "figures/matplotlibrc"]


def test_every_committed_file_is_in_the_dictionary():
    known = [pattern for row in ROWS for pattern in patterns(row["path"])]
    assert [path for path in FILES if not any(fnmatchcase(path, each) for each in known)] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["path"])
def test_every_row_of_the_dictionary_stands_for_files_that_are_there(row):
    if row["path"] not in WRITTEN_LATER:
        for pattern in patterns(row["path"]):
            assert any(fnmatchcase(path, pattern) for path in FILES), pattern
    assert row["content"]
    assert [each["path"] for each in ROWS].count(row["path"]) == 1
