"""Files of traces: three formats read alike, and each fault named with its remedy."""

from __future__ import annotations

import json

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.lenses.filters import filter_of, filtered
from failbench.lenses.slices import scale_of, slices_of
from failbench.lenses.traces import read_traces
from made_up_traces import made_up_answers


@pytest.fixture(scope="module")
def traces():
    return made_up_answers(items=2, lengths=(2, 3, 4))


def as_texts(traces):
    lists = [json.dumps(ids) for ids in traces["prompt_ids"].to_list()]
    return traces.with_columns(prompt_ids=pl.Series(lists))


def test_three_formats_hold_the_same(traces, tmp_path):
    traces.write_parquet(tmp_path / "a.parquet")
    traces.write_ndjson(tmp_path / "a.jsonl")
    as_texts(traces).write_csv(tmp_path / "a.csv")
    for suffix in ("parquet", "jsonl", "csv"):
        assert read_traces(tmp_path / f"a.{suffix}").equals(traces)


def test_an_unknown_condition_and_seed_may_be_left_out(traces, tmp_path):
    traces.drop("condition", "seed").write_parquet(tmp_path / "a.parquet")
    read = read_traces(tmp_path / "a.parquet")
    assert read["condition"].null_count() == read.height


def test_rows_in_any_order_and_narrow_integers_are_taken(traces, tmp_path):
    shuffled = traces.reverse().with_columns(pl.col("length", "tokens").cast(pl.Int16))
    shuffled.write_parquet(tmp_path / "a.parquet")
    assert read_traces(tmp_path / "a.parquet").equals(traces)


def first_row(**changes):
    def change(traces):
        return traces.with_columns(
            pl.when(pl.int_range(pl.len()) == 0)
            .then(pl.lit(value))
            .otherwise(pl.col(name))
            .alias(name)
            for name, value in changes.items()
        )

    return change


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        (lambda traces: traces.drop("tokens"), "tokens", "the column is missing"),
        (lambda traces: traces.head(0), "(rows)", "there are none"),
        (first_row(outcome="right"), "outcome", "row 1: 'right' is none of correct, wrong"),
        (first_row(tokens=-1), "tokens", "row 1: -1 is negative"),
        (first_row(length=0), "length", "row 1: 0 is not positive"),
        (first_row(guess=1.0), "guess", "row 1: 1.0 is not from 0 to below 1"),
        (first_row(model=None), "model", "row 1: the value is missing"),
        (
            lambda traces: traces.with_columns(tokens=pl.lit("many")),
            "tokens",
            "row 1: 'many' is no whole number",
        ),
        (
            lambda traces: traces.with_columns(length=pl.lit(2.5)),
            "length",
            "row 1: 2.5 is no whole number",
        ),
        (
            lambda traces: traces.with_columns(prompt_ids=pl.lit("no list")),
            "prompt_ids",
            "holds what is no list of whole numbers",
        ),
        (
            lambda traces: traces.with_columns(prompt_ids=pl.lit([], pl.List(pl.Int64))),
            "prompt_ids",
            "row 1: is empty",
        ),
        (lambda traces: pl.concat([traces, traces.head(1)]), "model, task", "is not the only one"),
    ],
)
def test_a_fault_is_named_with_its_row_and_remedy(traces, tmp_path, change, field, says):
    path = tmp_path / "a.parquet"
    change(traces).write_parquet(path)
    with pytest.raises(BadInputError) as raised:
        read_traces(path)
    text = str(raised.value)
    assert text.startswith(str(path))
    assert raised.value.field.startswith(field)
    assert says in text
    assert "docs/traces.md" in text or "Name a file" in text


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.jsonl", "a.txt", "missing.parquet"])
def test_what_is_no_file_of_traces_is_one_error(tmp_path, name):
    path = tmp_path / name
    if not name.startswith("missing"):
        path.write_bytes(b"\x93\x00 not what it should be \xff\n\x01")
    with pytest.raises(BadInputError, match=name.replace(".", r"\.")):
        read_traces(path)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("length=3..", {3, 4}),
        ("length=..2", {2}),
        ("length=2..3", {2, 3}),
        ("length=2,4", {2, 4}),
        ("length=4", {4}),
    ],
)
def test_numbers_are_filtered_by_range_and_by_list(traces, text, kept):
    assert set(filtered(traces, [filter_of(text)], "file")["length"]) == kept


def test_texts_are_filtered_by_list(traces):
    other = made_up_answers("other-0", items=1, lengths=(2,))
    both = pl.concat([traces, other])
    assert filtered(both, [filter_of("model=other-0,third")], "file")["model"].n_unique() == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("length", "is no filter"),
        ("length=", "is no filter"),
        ("size=3", "no column 'size'"),
        ("length=two", "'two' is no whole number"),
        ("length=2..many", "'many' is no whole number"),
        ("length=..", "'..' is no whole number"),
    ],
)
def test_what_is_no_filter_is_named(text, says):
    with pytest.raises(BadInputError) as raised:
        filter_of(text)
    assert says in str(raised.value)


def test_the_filter_that_leaves_nothing_is_named_with_what_there_is(traces):
    filters = [filter_of("depth=1"), filter_of("task=sorting")]
    with pytest.raises(BadInputError, match=r"task: no trace is left.*arithmetic"):
        filtered(traces, filters, "file")


def test_slices_are_of_one_model_and_task_and_share_the_scale_of_the_file(traces):
    other = made_up_answers("other-0", task="paths", items=1)
    both = pl.concat([traces, other])
    names = [part.name for part in slices_of(both)]
    assert names == ["healthy-0, arithmetic", "other-0, paths"]
    assert scale_of(both).spectrum == 256
    assert scale_of(both).bucket == 4
