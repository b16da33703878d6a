"""Telemetry in batches: the whole of it, run by run, and what cannot be read that way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry, read_telemetry, write_parquet
from failbench.base.telemetry_stream import number_of_runs, refuse_foreign, telemetry_batches

Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture
def folder(tmp_path: Path, small_telemetry: Telemetry) -> Path:
    """Three failing runs in one file of steps, and their twins in another."""
    twin = pl.col("run_id").str.ends_with("-twin")
    write_parquet(small_telemetry.runs, tmp_path / "runs.parquet")
    write_parquet(small_telemetry.steps.filter(twin), tmp_path / "steps" / "a.parquet")
    write_parquet(small_telemetry.steps.filter(~twin), tmp_path / "steps" / "b.parquet")
    return tmp_path


def rewrite(path: Path, change: Change) -> None:
    write_parquet(change(pl.read_parquet(path)), path)


def reading(folder: Path) -> list[Telemetry]:
    return list(telemetry_batches(folder, rows=12))


@pytest.mark.parametrize("rows", [1, 11, 12, 23, 1000])
def test_batches_are_the_telemetry_whatever_their_size(
    folder: Path, small_telemetry: Telemetry, rows: int
) -> None:
    batches = list(telemetry_batches(folder, rows))
    assert_frame_equal(pl.concat(batch.runs for batch in batches), small_telemetry.runs)
    assert_frame_equal(pl.concat(batch.steps for batch in batches), small_telemetry.steps)


@pytest.mark.parametrize("rows", [7919, 131_072])
def test_batches_of_what_is_recorded_are_what_is_read_at_once(repository: Path, rows: int) -> None:
    folder = repository / "data" / "telemetry"
    whole, batches = read_telemetry(folder), list(telemetry_batches(folder, rows))
    assert len(batches) > 4
    assert_frame_equal(pl.concat(batch.runs for batch in batches), whole.runs)
    assert_frame_equal(pl.concat(batch.steps for batch in batches), whole.steps)
    assert number_of_runs(folder) == whole.runs.height


@pytest.mark.parametrize("rows", [1, 11, 12, 23, 35])
def test_a_batch_holds_whole_runs_and_no_more_rows_than_it_may(folder: Path, rows: int) -> None:
    """Runs have no, eight or ten steps here, so that eleven rows hold the longest."""
    for batch in telemetry_batches(folder, rows):
        assert batch.runs["steps"].sum() == batch.steps.height
        assert batch.runs.height + batch.steps.height <= rows or batch.runs.height == 1


def test_a_batch_ends_only_where_the_next_run_would_be_too_much(folder: Path) -> None:
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
def test_files_that_are_not_sorted_by_their_key_are_refused(
    folder: Path, file: str, change: Change, complaint: str
) -> None:
    rewrite(folder / file, change)
    with pytest.raises(BadInputError, match=complaint):
        reading(folder)


@pytest.mark.parametrize("orphan", ["a", "no_start", "zebra"])
def test_steps_without_a_run_are_refused_wherever_they_are_in_the_order(
    folder: Path, orphan: str
) -> None:
    rewrite(
        folder / "steps" / "a.parquet",
        lambda item: pl.concat([item, item[:1].with_columns(run_id=pl.lit(orphan))]).sort(
            "run_id", "step"
        ),
    )
    with pytest.raises(BadInputError, match=rf"a\.parquet: run_id: the step rows of '{orphan}'"):
        reading(folder)


def test_a_run_with_fewer_steps_than_it_reports_is_refused(folder: Path) -> None:
    rewrite(folder / "steps" / "b.parquet", lambda item: item[:-1])
    complaint = r"'runaway-.*' has 9 step rows and reports 10\. Restore the folder as"
    with pytest.raises(BadInputError, match=complaint):
        reading(folder)


@pytest.mark.parametrize("file", ["runs.parquet", "steps/b.parquet"])
def test_files_that_cannot_be_read_are_named(folder: Path, file: str) -> None:
    path = folder / file
    path.write_bytes(path.read_bytes()[:-100])
    complaint = r"parquet: \(file\): is not a readable parquet file .*Restore the folder as it was"
    with pytest.raises(BadInputError, match=complaint):
        reading(folder)
    with pytest.raises(BadInputError, match=complaint):
        refuse_foreign(folder)


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"runs\.parquet: \(file\): is not a readable"):
        reading(tmp_path)
    with pytest.raises(BadInputError, match=r"runs\.parquet: \(file\): is not there\. Name a"):
        number_of_runs(tmp_path)
