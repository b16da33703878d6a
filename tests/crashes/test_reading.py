"""Any notebook of format 4: what came before the target, in which order, without magics."""

from __future__ import annotations

import json

import pytest

from failbench.base.errors import BadInputError
from failbench.crashes.reading import read_asked, without_magics


@pytest.fixture
def written(tmp_path):
    def write(*cells, **changed):
        path = tmp_path / "tried.ipynb"
        path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "cells": cells} | changed))
        return path

    return write


def code(source, count=None):
    return {
        "cell_type": "code",
        "source": source,
        "execution_count": count,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "printed"}],
    }


TEXT = {"cell_type": "markdown", "source": ["# a", "title"]}


def test_cells_are_in_the_order_of_their_counts_and_not_of_the_page(written):
    asked = read_asked(written(TEXT, code("b", 5), code("a", 2), code("t", 7), code("z", 9)), 3)
    assert asked.executed == ("a", "b")
    assert (asked.target, asked.index) == ("t", 3)


def test_without_a_target_it_is_the_next_cell_that_would_be_executed(written):
    cells = (code("a", 1), code("skipped"), code("b", 2), TEXT, code("next"), code("later"))
    asked = read_asked(written(*cells), None)
    assert (asked.target, asked.executed) == ("next", ("a", "b"))


def test_without_counts_the_cells_above_come_before(written):
    asked = read_asked(written(code("a"), code(["b", "\n", "c"]), code("t"), code("z")), 2)
    assert asked.executed == ("a", "b\nc")


def test_where_every_cell_was_executed_the_last_is_asked_about(written):
    assert read_asked(written(code("a", 1), code("b", 2)), None).target == "b"


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install x\nfor i in y:\n    !ls\n", "pass\nfor i in y:\n    pass\n"),
        ("%%bash\nls\ncd", "pass\n\n"),
        ("%%time\nx = 1", "pass\nx = 1"),
        ("x?", "pass"),
        ("y = 7 \\\n% 2", "y = 7 \\\n% 2"),
    ],
)
def test_magics_are_no_python_and_lines_keep_their_numbers(source, read):
    assert without_magics(source) == read
    assert read.count("\n") == source.count("\n")


@pytest.mark.parametrize(
    ("changed", "index", "field"),
    [
        ({"nbformat": 3}, None, "nbformat"),
        ({"cells": None}, None, "nbformat"),
        ({"cells": [TEXT]}, None, "cells"),
        ({"cells": [{"cell_type": "code"}]}, None, "cells.0.source"),
        ({"cells": [code("a", "x")]}, None, "cells.0.execution_count"),
        ({}, 0, "cells.0"),
        ({}, 9, "cells.9"),
    ],
)
def test_a_bad_notebook_gives_one_line_that_names_the_field(written, changed, index, field):
    with pytest.raises(BadInputError) as raised:
        read_asked(written(TEXT, code("a"), **changed), index)
    assert f" {field}: " in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1]"])
def test_what_is_no_notebook_is_refused(tmp_path, content):
    path = tmp_path / "tried.ipynb"
    path.write_bytes(content)
    with pytest.raises(BadInputError):
        read_asked(path, None)
