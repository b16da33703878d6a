"""Which traces lenses look at: filters, and slices of models and tasks."""

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.neighbours.lenses.slices import filter_of, filtered, scale_of, slices_of
from made_up_traces import made_up_answers


@pytest.fixture(scope="module")
def traces():
    return made_up_answers(items=2, lengths=(2, 3, 4))


@pytest.mark.parametrize(
    ("change", "field"),
    [(lambda traces: traces.drop("tokens"), "tokens"), (lambda traces: traces.head(0), "(rows)")],
)
def test_a_bad_file_is_one_line_that_names_file_column_and_remedy(
    traces, tmp_path, capsys, change, field
):
    path = tmp_path / "a.parquet"
    change(traces).write_parquet(path)
    assert main(["lens", "surface", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(f"{path}: {field}: ")


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
