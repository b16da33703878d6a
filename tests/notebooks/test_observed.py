import json

import pytest

from failbench.notebooks.observed import OBSERVED, code_of_summary, read_observed
from failbench.notebooks.summaries import FACTS, parse_summary, without


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
