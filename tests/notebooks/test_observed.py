"""What was observed is whole, is of the notebooks as they are, and holds no secret of a machine."""

from __future__ import annotations

import json

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.notebooks.corpus import OBSERVED, code_of_summary, read_observed
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


def test_a_crash_passed_the_functions_of_its_card_and_has_a_line_of_its_target(corpus, observed):
    rows = {row["pair"]: row for row in observed.filter("crash").iter_rows(named=True)}
    for pair in corpus:
        row = rows[pair.card.pair]
        assert row["functions"] == pair.card.functions_between
        assert pair.crashing.target.splitlines()[row["line"] - 1].strip() == row["source_line"]


def test_twins_mended_in_their_target_have_one_summary_but_for_names_of_the_edit(corpus, observed):
    texts = {
        (row["pair"], row["version"]): row["summary"] for row in observed.iter_rows(named=True)
    }
    for pair in corpus:
        if pair.crashing.target != pair.mended.target:
            left, right = (
                parse_summary(texts[pair.card.pair, version]).names
                for version in ("crashing", "mended")
            )
            for name in left.keys() & right.keys():
                assert facts(left[name]) == facts(right[name]), (pair.card.pair, name)


def facts(entry):
    """An entry without the attributes that the target asks for, which the edit may change."""
    kind = {key: value for key, value in entry["type"].items() if key != "attributes"}
    return entry | {"type": kind}


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
    ("change", "field"),
    [
        (lambda table: table.drop("ename"), "ename"),
        (lambda table: table.filter(pl.col("version") == "mended"), "version"),
        (lambda table: table.with_columns(evalue=pl.lit(None, pl.String)), "evalue"),
    ],
)
def test_a_bad_table_gives_one_line(observed, tmp_path, change, field):
    path = tmp_path / OBSERVED
    change(observed.head(4)).write_parquet(path)
    with pytest.raises(BadInputError) as caught:
        read_observed(path)
    assert (caught.value.place, caught.value.field) == (str(path), field)
