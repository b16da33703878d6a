import ast
import json

import pytest

from drawn_split import draw_split, write_split
from failbench.base.errors import BadInputError
from failbench.notebooks.corpus import (
    OBSERVED,
    SPLIT,
    check_unchanged,
    code_of_summary,
    read_corpus,
    read_observed,
    read_split,
)
from failbench.notebooks.relevant import relevant_names
from failbench.notebooks.summaries import FACTS, parse_summary, without
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
        (lambda raw: raw["metadata"].clear(), "metadata.failbench", "missing"),
        (lambda raw: raw["cells"][0].update(execution_count=2), "execution_count", "same count"),
        (lambda raw: raw["cells"][1].update(execution_count=None), "target", "exactly once"),
        (
            lambda raw: raw["cells"][0]["metadata"].update(executions=[3, 2]),
            "cells.0.metadata.executions",
            "must rise",
        ),
        (lambda raw: card(raw, difficulty="hard"), "difficulty", "the rule says 'easy'"),
        (lambda raw: card(raw, target=7), "target", "no code"),
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
        (document(("", SOURCES[1]), (3, 2), version="mended", target=1), "more than the source"),
        (document((SOURCES[0], "1"), version="mended", fault="Other."), "more than the version"),
    ],
)
def test_twins_that_differ_otherwise_are_refused(written, mended, problem):
    with pytest.raises(BadInputError, match=problem):
        read_corpus(written(document(), mended))


@pytest.fixture(scope="module")
def split(corpus_folder):
    return read_split(corpus_folder / SPLIT)


def test_the_committed_split_is_the_one_that_was_drawn_of_the_same_bytes(corpus, split):
    assert tuple(split.values()) == draw_split(corpus)


@pytest.fixture
def drawn(written):
    """A corpus of one pair with its split."""
    folder = written(document(), MENDED)
    write_split(folder / SPLIT, draw_split(read_corpus(folder)))
    return folder


def test_a_pair_that_changed_is_named(drawn, written):
    again = document((SOURCES[0], "np.ones(2) * np.ones(2)"), version="mended")
    pairs = read_corpus(written(document(), again))
    with pytest.raises(BadInputError, match=r"mended.ipynb: \(file\): has changed since"):
        check_unchanged(pairs, read_split(drawn / SPLIT), drawn / SPLIT)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text: "", "there are none"),
        (lambda text: text.replace("\n", "\nanother_", 1), "in neither part"),
        (lambda text: text.replace("development", "half").replace("test", "half"), "part"),
        (lambda text: text + text.splitlines()[1] + "\n", "there twice"),
        (lambda text: text.replace("sha256_mended", "sha256"), "sha256"),
    ],
)
def test_a_bad_split_gives_one_line(drawn, change, problem):
    path = drawn / SPLIT
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BadInputError, match=problem) as caught:
        check_unchanged(read_corpus(drawn), read_split(path), path)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def observed(corpus_folder):
    return read_observed(corpus_folder / OBSERVED)


def test_every_notebook_was_observed_as_it_is_by_the_code_that_is_here(corpus, observed):
    assert {
        (pair.card.pair, notebook.card.version, notebook.sha256)
        for pair in corpus
        for notebook in pair.notebooks
    } == set(observed.select("pair", "version", "notebook_sha256").rows())
    assert (observed["crash"] == (observed["version"] == "crashing")).all()
    assert observed["recorder"].unique().to_list() == [code_of_summary()]
    assert observed["versions"].n_unique() == 1


def test_summaries_are_whole_strict_json_without_paths_or_addresses(observed):
    def refuse(word):
        raise AssertionError(word)

    missing = 0
    for row in observed.iter_rows(named=True):
        json.loads(row["summary"], parse_constant=refuse)
        summary = parse_summary(row["summary"])
        assert summary.names
        assert not summary.truncated
        if row["ename"] == "NameError":  # a name that is not defined is absent
            missing += 1
            assert row["evalue"].split("'")[1] in summary.absent
        kept = f"{row['evalue']} {row['summary']} {row['source_line']}"
        assert "/tmp/" not in kept
        assert " at 0x" not in kept
    assert missing >= 5


def test_a_class_of_facts_is_taken_out_at_any_depth():
    inner = {"type": {"kind": "text"}, "value": {"value": 1}}
    entry = inner | {"structural": {"length": 1}, "items": {"0": inner}}
    text = json.dumps({"relevant": ["x", "y"], "names": {"x": entry}, "truncated": False})
    summary = parse_summary(text)
    assert summary.absent == ("y",)
    assert without(summary, ["value"]).names["x"]["items"]["0"] == {"type": {"kind": "text"}}
    assert without(summary, FACTS).names == {"x": {"items": {"0": {}}}}


@pytest.mark.parametrize(
    ("executed", "target", "names"),
    [
        ([], "print(len(rows))", ["rows"]),
        ([], "total = sum(x * k for x in rows)", ["k", "rows"]),
        (["def f(a):\n    return a + shift"], "f(1)", ["f", "shift"]),
        (["def g(): return deep", "def f(): return g()"], "f()", ["deep", "f", "g"]),
        (["def f(a):\n    shift = 1\n    return a + shift"], "f(1)", ["f"]),
        (["class Net:\n    def run(self): return size", "net = Net()"], "net.run()",
         ["Net", "net", "size"]),
        (["def f(): return old", "def f(): return new"], "f()", ["f", "new"]),
        (["a = b + c"], "a", ["a"]),
    ],
)  # fmt: skip
def test_names_are_those_that_are_read_in_the_end(executed, target, names):
    assert list(relevant_names(executed, target).names) == names


def test_attributes_are_those_that_the_target_and_its_functions_ask_for():
    found = relevant_names(["def f(x):\n    return np.product(x)"], "f(data.values)")
    assert found.attributes == {"data": ("values",), "np": ("product",)}
