from __future__ import annotations

import matplotlib as mpl
import pytest

from failbench.base.errors import BadInputError
from failbench.study.publication import check_style

GOOD = "# a style\nfont.size: 9\naxes.grid: False\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("font.size: 9\nfont.size 9\n", 2),
        ("font.size: 9\n\nfont.sise: 9\n", 3),
        ("axes.grid: perhaps\nfont.size: large and bold\n", 1),
        ("font.size: 9\naxes.grid: False\nfont.size: 8\n", 3),
    ],
)
def test_a_line_that_would_be_skipped_is_refused_by_its_number(tmp_path, text, line):
    path = tmp_path / "matplotlibrc"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        check_style(path)
    assert (error.value.place, error.value.field) == (str(path), f"line {line}")
    assert repr(text.splitlines()[line - 1]) in error.value.problem
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"", b"# nothing\n"])
def test_a_file_that_is_missing_or_no_text_or_empty_is_refused(tmp_path, content):
    path = tmp_path / "matplotlibrc"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(
        BadInputError, match=r"\(file\): (is missing or is not text|has no settings)"
    ):
        check_style(path)


def test_a_good_file_is_accepted_and_changes_nothing(tmp_path, repository):
    path = tmp_path / "matplotlibrc"
    path.write_text(GOOD, encoding="utf-8")
    with mpl.rc_context({"font.size": 11}):
        check_style(path)
        check_style(repository / "figures/matplotlibrc")
        assert mpl.rcParams["font.size"] == 11
