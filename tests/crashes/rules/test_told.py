"""What a summary tells goes before what the code says, and its silence tells nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from failbench.crashes.question import Question, question
from failbench.crashes.rules.predict import predict
from failbench.notebooks.corpus import read_corpus
from failbench.notebooks.split import read_split
from failbench.notebooks.summaries import FACTS, Summary, parse_summary, without

NOTEBOOKS = Path(__file__).parents[3] / "data/notebooks"
READ = "import numpy as np\nx = np.load('x.npy')"


def told(name, entry, *, absent=()):
    return Summary((name, *absent), {name: entry}, False)


def array(shape=None, dtype=None, **values):
    entry = {"type": {"kind": "array", "class": "numpy.ndarray", "dtype": dtype}}
    return (
        entry
        | ({"structural": {"shape": shape}} if shape else {})
        | ({"value": values} if values else {})
    )


@pytest.mark.parametrize(
    ("entry", "target", "exception"),
    [
        (array([5, 2]), "x + np.ones(3)", "ValueError"),
        (array([5]), "x[7]", "IndexError"),
        (array([5], "float64"), "x & x", "TypeError"),
        (array([5], "int64", range=[0, 9], nan_share=0.0), "np.eye(3)[x]", "IndexError"),
        (array(None, "float64", value="nan"), "int(x)", "ValueError"),
    ],
)
def test_a_fact_that_the_code_lacks_makes_a_violation_certain(entry, target, exception):
    assert predict(Question((READ,), target)).crash is False
    assert predict(Question((READ,), target, told("x", entry))).exception == exception


def test_a_relevant_name_that_is_not_there_is_a_name_error():
    target = "print(x, model)"
    cells = (READ, "model = 1")
    assert predict(Question(cells, target)).crash is False
    summary = told("x", array([5]), absent=("model",))
    assert predict(Question(cells, target, summary)).exception == "NameError"


def test_a_truncated_summary_takes_no_name_away():
    summary = Summary(("model", "x"), {"x": array([5])}, True)
    assert predict(Question((READ, "model = 1"), "print(x, model)", summary)).crash is False


def test_an_attribute_that_is_told_to_be_absent_is_an_attribute_error():
    entry = {"type": {"kind": "object", "class": "custom.Thing", "attributes": {"run": "absent"}}}
    source = "from custom import make\nthing = make()"
    assert predict(Question((source,), "thing.run()")).crash is False
    prediction = predict(Question((source,), "thing.run()", told("thing", entry)))
    assert prediction.exception == "AttributeError"


def test_whether_an_estimator_learnt_is_believed_before_the_code():
    cell = "from sklearn.svm import SVC\nmodel = SVC().fit([[0], [1]], [0, 1])"
    entry = {"type": {"kind": "estimator", "class": "sklearn.svm._classes.SVC", "fitted": False}}
    assert predict(Question((cell,), "model.predict([[0]])")).crash is False
    prediction = predict(Question((cell,), "model.predict([[0]])", told("model", entry)))
    assert prediction.exception == "NotFittedError"


@pytest.fixture(scope="module")
def development():
    split = read_split(NOTEBOOKS / "split.csv")
    names = [name for name, row in split.items() if row.part == "development"]
    pairs = read_corpus(NOTEBOOKS, only=names[::6])
    observed = pl.read_parquet(NOTEBOOKS / "observed.parquet")
    summaries = {
        (row["pair"], row["version"]): parse_summary(row["summary"])
        for row in observed.iter_rows(named=True)
        if row["pair"] in names
    }
    return [(each, summaries) for pair in pairs for each in (pair.crashing, pair.mended)]


def test_a_summary_without_facts_gives_the_code_and_the_names_that_are_not_there(development):
    for notebook, summaries in development:
        own = summaries[notebook.card.pair, notebook.card.version]
        bare = without(own, FACTS)
        asked = Question(notebook.executed_sources, notebook.target, bare)
        code = predict(question(notebook, "code", own, own))
        if not set(own.absent) & set(own.relevant):
            assert predict(asked) == code


def test_the_card_is_not_asked(development):
    for notebook, summaries in development:
        own = summaries[notebook.card.pair, notebook.card.version]
        asked = question(notebook, "all", own, own)
        assert set(vars(asked)) == {"executed", "target", "summary"}
        assert predict(asked) == predict(asked)


def test_most_of_what_is_said_of_development_pairs_is_right(development):
    right = 0
    for notebook, summaries in development:
        own = summaries[notebook.card.pair, notebook.card.version]
        crash = notebook.card.version == "crashing"
        right += predict(question(notebook, "all", own, own)).crash == crash
    assert right / len(development) > 0.8
