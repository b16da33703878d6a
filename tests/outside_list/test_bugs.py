"""The list of published bugs is whole, and refuses rows that say half of something."""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from failbench.base.errors import BadInputError
from failbench.neighbours.outside_list.bugs import BUGS, read_bugs

ROW = {
    "id": "library-1",
    "published": "Library issue 1",
    "title": "It is wrong",
    "root_cause": "Something is not as it was meant.",
    "component": "model_software",
    "reason": "5",
    "ranks": "2",
    "onset": "0",
    "traincheck": "not detected",
    "deviations": "none",
    "left_out": "",
}


@pytest.fixture
def written(tmp_path):
    """Writes rows as the file of the list."""

    def write(*rows):
        path = tmp_path / "bugs.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ROW)
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


@pytest.fixture(scope="module")
def bugs(repository):
    return read_bugs(repository / "data/outside" / BUGS)


def test_at_least_twelve_are_recreated_and_every_other_says_why_not(bugs):
    left_out = Counter(bool(bug.left_out) for bug in bugs)
    assert left_out[False] >= 12
    assert all(bug.is_recreated != bool(bug.left_out) for bug in bugs)


def test_every_recreated_bug_has_a_program_and_every_program_a_bug(bugs):
    for library in ("torch", "transformers", "accelerate"):
        pytest.importorskip(library)
    from failbench.neighbours.outside_list.child import programs

    assert set(programs()) == {bug.id for bug in bugs if bug.is_recreated}


@pytest.mark.parametrize(
    "change",
    [
        {"component": "weather"},
        {"left_out": "it needs a GPU"},
        {"onset": ""},
        {"ranks": "-1"},
        {"id": ""},
    ],
)
def test_a_row_that_says_half_of_something_is_refused_with_its_line(written, change):
    with pytest.raises(BadInputError, match="line 2"):
        read_bugs(written(ROW | change))


def test_a_bug_that_stands_twice_is_refused(written):
    with pytest.raises(BadInputError, match="line 3: id: 'library-1' is there twice"):
        read_bugs(written(ROW, ROW))
