import ast
import json

import pytest

from failbench.base.errors import BadInputError
from failbench.notebooks.corpus import read_corpus
from made_up_notebooks import MENDED, SOURCES, document


def test_every_notebook_is_valid_by_the_schema_of_nbformat_short_and_python(corpus):
    nbformat = pytest.importorskip("nbformat")
    for notebook in (each for pair in corpus for each in pair.notebooks):
        nbformat.validate(nbformat.read(notebook.path, as_version=nbformat.NO_CONVERT))
        assert 3 <= len(notebook.cells) <= 8, notebook.path
        for cell in notebook.cells:
            assert not cell.is_code or ast.parse(cell.source)


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def test_the_past_of_a_target_is_what_was_executed_before_wherever_it_stands(written):
    sources = ("b = 1", "a", "a = b", "c = 2")
    crashing = document(sources, (1, 4, None, 3), target=1, cause=2, misuse="name")
    mended = document(sources, (1, 4, 2, 3), target=1, cause=2, misuse="name", version="mended")
    (pair,) = read_corpus(written(crashing, mended))
    assert pair.crashing.executed == (0, 3)
    assert pair.mended.executed == (0, 2, 3)


def edited(change):
    raw = json.loads(json.dumps(document()))
    change(raw)
    return raw


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        (lambda raw: raw.pop("nbformat"), "nbformat", "format 4.5"),
        (lambda raw: raw["metadata"].clear(), "metadata.failbench", "missing"),
        (lambda raw: raw.pop("cells"), "cells", "missing"),
        (lambda raw: raw["cells"][0].update(outputs=[{}]), "cells.0.outputs", "at most 0"),
        (lambda raw: raw["cells"][0].update(execution_count=2), "execution_count", "same count"),
        (lambda raw: raw["cells"][1].update(execution_count=None), "target", "exactly once"),
        (
            lambda raw: raw["cells"][0]["metadata"].update(executions=[3, 2]),
            "cells.0.metadata.executions",
            "must rise",
        ),
        (lambda raw: card(raw, difficulty="hard"), "difficulty", "the rule says 'easy'"),
        (lambda raw: card(raw, target=7), "target", "no code"),
        (lambda raw: card(raw, misuse="odd"), "metadata.failbench.misuse", "'odd'"),
        (lambda raw: card(raw, colour="red"), "metadata.failbench.colour", "unknown"),
        (lambda raw: card(raw, pair="other"), "metadata.failbench.pair", "stands for 'tried'"),
    ],
)
def test_a_bad_notebook_gives_one_line_with_file_field_and_remedy(written, change, field, problem):
    folder = written(edited(change), MENDED)
    with pytest.raises(BadInputError) as caught:
        read_corpus(folder)
    line = str(caught.value)
    assert caught.value.place.endswith("numpy/tried/crashing.ipynb")
    assert caught.value.field.endswith(field)
    assert problem in line
    assert "\n" not in line
    assert caught.value.remedy


def card(raw, **changes):
    raw["metadata"]["failbench"].update(changes)


@pytest.mark.parametrize(
    ("mended", "problem"),
    [
        (document(SOURCES, version="mended"), "differs from its twin in 0 cells"),
        (document(("import numpy", "1"), version="mended"), "in 2 cells"),
        (document((*SOURCES, "1"), version="mended"), "has 3 cells"),
        (document(("", SOURCES[1]), (3, 2), version="mended", target=1), "more than the source"),
        (document((SOURCES[0], "1"), version="mended", fault="Other."), "more than the version"),
        (None, "format 4.5"),
    ],
)
def test_twins_that_differ_otherwise_are_refused(written, mended, problem):
    with pytest.raises(BadInputError, match=problem):
        read_corpus(written(document(), mended))
