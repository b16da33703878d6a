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


@pytest.mark.parametrize(
    ("cells", "index", "target", "executed"),
    [
        # in the order of their counts, and not of the page
        ((TEXT, code("b", 5), code("a", 2), code("t", 7), code("z", 9)), 3, "t", ("a", "b")),
        # without a target it is the next cell that would be executed, or else the last
        (
            (code("a", 1), code("skipped"), code("b", 2), TEXT, code("next"), code("later")),
            None,
            "next",
            ("a", "b"),
        ),
        ((code("a", 1), code("b", 2)), None, "b", ("a",)),
        # without counts the cells above come before
        ((code("a"), code(["b", "\n", "c"]), code("t"), code("z")), 2, "t", ("a", "b\nc")),
    ],
)
def test_cells_before_a_target(written, cells, index, target, executed):
    asked = read_asked(written(*cells), index)
    assert (asked.target, asked.executed) == (target, executed)


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
        ({"cells": None}, None, "nbformat"),
        ({"cells": [TEXT]}, None, "cells"),
        ({"cells": [code("a", "x")]}, None, "cells.0.execution_count"),
        ({}, 0, "cells.0"),
    ],
)
def test_a_bad_notebook_gives_one_line_that_names_the_field(written, changed, index, field):
    with pytest.raises(BadInputError) as raised:
        read_asked(written(TEXT, code("a"), **changed), index)
    assert f" {field}: " in str(raised.value)
    assert "\n" not in str(raised.value)


def test_json_that_is_no_notebook_is_refused(tmp_path):
    path = tmp_path / "tried.ipynb"
    path.write_text("[1]")
    with pytest.raises(BadInputError, match="nbformat: is not a notebook of format 4"):
        read_asked(path, None)
