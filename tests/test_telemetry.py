"""Telemetry files, at once and in batches: what is refused, and what a failed write leaves."""

from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_telemetry, write_parquet
from failbench.base.telemetry_stream import number_of_runs, refuse_foreign, telemetry_batches

Change = Callable[[pl.DataFrame], pl.DataFrame]
RECORD_AGAIN = r"This is not failbench telemetry of this version; record it again\."


@pytest.fixture
def folder(tmp_path, small_telemetry):
    """Three failing runs in one file of steps, and their twins in another."""
    twin = pl.col("run_id").str.ends_with("-twin")
    write_parquet(small_telemetry.runs, tmp_path / "runs.parquet")
    write_parquet(small_telemetry.steps.filter(twin), tmp_path / "steps" / "a.parquet")
    write_parquet(small_telemetry.steps.filter(~twin), tmp_path / "steps" / "b.parquet")
    return tmp_path


def rewrite(path, change):
    write_parquet(change(pl.read_parquet(path)), path)


def in_batches(folder):
    return list(telemetry_batches(folder, rows=12))


def test_telemetry_comes_back_as_it_was_written(folder, small_telemetry):
    back = read_telemetry(folder)
    assert_frame_equal(back.runs, small_telemetry.runs)
    assert_frame_equal(back.steps, small_telemetry.steps)


def test_steps_of_all_files_are_read_sorted(folder, small_telemetry):
    rewrite(folder / "steps" / "a.parquet", pl.DataFrame.reverse)
    assert_frame_equal(read_telemetry(folder).steps, small_telemetry.steps)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda item: item.drop("seed"), r"seed: the column is missing\. "),
        (lambda item: item.with_columns(mood=pl.lit(1)), r"mood: the column is unknown\. "),
        (
            lambda item: item.with_columns(pl.col("seed").cast(pl.String)),
            r"seed: is String and must be Int32\. ",
        ),
    ],
)
def test_foreign_columns_are_refused_by_name(folder, change, complaint):
    rewrite(folder / "runs.parquet", change)
    for read in (read_telemetry, in_batches):
        with pytest.raises(BadInputError, match=r"runs\.parquet: " + complaint + RECORD_AGAIN):
            read(folder)


@pytest.mark.parametrize("file", ["runs.parquet", "steps/b.parquet"])
def test_files_that_cannot_be_read_are_named_with_what_restores_them(folder, file):
    path = folder / file
    path.write_bytes(path.read_bytes()[:-100])
    complaint = r"parquet: \(file\): is not a readable parquet file \(.+\)\. Restore "
    for read in (in_batches, refuse_foreign):
        with pytest.raises(BadInputError, match=complaint + "the folder as it was"):
            read(folder)
    with pytest.raises(BadInputError, match=complaint + r"it with `git checkout"):
        read_telemetry(folder)


def test_a_folder_without_runs_is_named(tmp_path):
    for read in (read_telemetry, in_batches):
        with pytest.raises(BadInputError, match=r"runs\.parquet: \(file\): is not a readable"):
            read(tmp_path)
    with pytest.raises(BadInputError, match=r"runs\.parquet: \(file\): is not there\. Name a"):
        number_of_runs(tmp_path)


def test_run_that_occurs_twice_is_refused(folder):
    rewrite(folder / "runs.parquet", lambda runs: pl.concat([runs, runs[:1]]))
    with pytest.raises(BadInputError, match=r"'late_crash-transformer-adamw-s0' occurs twice"):
        read_telemetry(folder)


def test_step_rows_without_a_run_are_refused(folder):
    rewrite(folder / "runs.parquet", lambda runs: runs[1:])
    complaint = r"b\.parquet: run_id: .*'late_crash-transformer-adamw-s0' have no"
    with pytest.raises(BadInputError, match=complaint):
        read_telemetry(folder)


@pytest.mark.parametrize(("kept", "rows"), [(pl.col("step") < 7, 7), (pl.lit(False), 0)])
def test_missing_step_rows_are_counted(folder, kept, rows):
    mine = pl.col("run_id") == "late_crash-transformer-adamw-s0"
    path = folder / "steps" / "b.parquet"
    rewrite(path, lambda steps: steps.filter(~mine | kept))
    with pytest.raises(BadInputError, match=rf"has {rows} step rows and reports 8\. Restore"):
        read_telemetry(folder)


def test_selection_keeps_the_steps_of_the_runs_it_keeps(small_telemetry):
    twins = small_telemetry.select(pl.col("kind") == "twin")
    assert twins.runs.height == 3
    assert set(twins.steps["run_id"]) == set(twins.runs["run_id"])


def test_full_disk_is_one_error_and_keeps_the_old_file(folder):
    path = folder / "runs.parquet"
    before = path.read_bytes()
    partial = folder / ".runs.parquet.partial"
    partial.symlink_to("/dev/full")
    complaint = r"runs\.parquet: \(file\): cannot be written \(.*No space left.*\)\. Free space"
    with pytest.raises(BadInputError, match=complaint):
        write_parquet(pl.read_parquet(path), path)
    assert path.read_bytes() == before
    assert not partial.is_symlink()


# In batches


@pytest.mark.parametrize("rows", [1, 11, 12, 23, 1000])
def test_batches_are_the_telemetry_whatever_their_size(folder, small_telemetry, rows):
    batches = list(telemetry_batches(folder, rows))
    assert_frame_equal(pl.concat(batch.runs for batch in batches), small_telemetry.runs)
    assert_frame_equal(pl.concat(batch.steps for batch in batches), small_telemetry.steps)


@pytest.mark.parametrize("rows", [7919, 131_072])
def test_batches_of_what_is_recorded_are_what_is_read_at_once(repository, rows):
    folder = repository / "data" / "telemetry"
    whole, batches = read_telemetry(folder), list(telemetry_batches(folder, rows))
    assert len(batches) > 4
    assert_frame_equal(pl.concat(batch.runs for batch in batches), whole.runs)
    assert_frame_equal(pl.concat(batch.steps for batch in batches), whole.steps)
    assert number_of_runs(folder) == whole.runs.height


@pytest.mark.parametrize("rows", [1, 11, 12, 23, 35])
def test_a_batch_holds_whole_runs_and_no_more_rows_than_it_may(folder, rows):
    """Runs have no, eight or ten steps here, so that eleven rows hold the longest."""
    for batch in telemetry_batches(folder, rows):
        assert batch.runs["steps"].sum() == batch.steps.height
        assert batch.runs.height + batch.steps.height <= rows or batch.runs.height == 1


def test_a_batch_ends_only_where_the_next_run_would_be_too_much(folder):
    sizes = [
        batch.runs["steps"].sum() + batch.runs.height for batch in telemetry_batches(folder, 22)
    ]
    steps = pl.read_parquet(folder / "runs.parquet")["steps"].to_list()
    assert sizes == [9 + 11 + 1, 11 + 11, 11]
    assert steps == [8, 10, 0, 10, 10, 10]


@pytest.mark.parametrize(
    ("file", "change", "complaint"),
    [
        (
            "runs.parquet",
            pl.DataFrame.reverse,
            r"runs\.parquet: run_id: '.*' follows '.*', and rows must ascend by run_id to be read",
        ),
        (
            "runs.parquet",
            lambda item: pl.concat([item, item.tail(1)]),
            r"runs\.parquet: run_id: '(.*)' follows '\1', and rows must ascend by run_id to",
        ),
        (
            "steps/a.parquet",
            lambda item: item.sort("step"),
            r"a\.parquet: run_id: '.*' follows '.*', and rows must ascend by run_id and step",
        ),
        (
            "steps/b.parquet",
            lambda item: pl.concat([item[:3], item[1:]]),
            r"b\.parquet: run_id: '(.*)' follows '\1', and rows must ascend by run_id and step",
        ),
    ],
)
def test_files_that_are_not_sorted_by_their_key_are_refused(folder, file, change, complaint):
    rewrite(folder / file, change)
    with pytest.raises(BadInputError, match=complaint):
        in_batches(folder)


@pytest.mark.parametrize("orphan", ["a", "no_start", "zebra"])
def test_steps_without_a_run_are_refused_wherever_they_are_in_the_order(folder, orphan):
    rewrite(
        folder / "steps" / "a.parquet",
        lambda item: pl.concat([item, item[:1].with_columns(run_id=pl.lit(orphan))]).sort(
            "run_id", "step"
        ),
    )
    with pytest.raises(BadInputError, match=rf"a\.parquet: run_id: the step rows of '{orphan}'"):
        in_batches(folder)


def test_a_run_with_fewer_steps_than_it_reports_is_refused(folder):
    rewrite(folder / "steps" / "b.parquet", lambda item: item[:-1])
    complaint = r"'runaway-.*' has 9 step rows and reports 10\. Restore the folder as"
    with pytest.raises(BadInputError, match=complaint):
        in_batches(folder)
