"""Telemetry files: what is refused, and what a failed write leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.telemetry import (
    RUN_SCHEMA,
    Telemetry,
    read_table,
    read_telemetry,
    write_parquet,
)

Change = Callable[[pl.DataFrame], pl.DataFrame]
RECORD_AGAIN = r"This is not failbench telemetry of this version; record it again\."


@pytest.fixture
def folder(tmp_path: Path, small_telemetry: Telemetry) -> Path:
    write_parquet(small_telemetry.runs, tmp_path / "runs.parquet")
    write_parquet(small_telemetry.steps, tmp_path / "steps" / "transformer-adamw.parquet")
    return tmp_path


def rewrite(path: Path, change: Change) -> None:
    write_parquet(change(pl.read_parquet(path)), path)


def test_telemetry_comes_back_as_it_was_written(folder: Path, small_telemetry: Telemetry) -> None:
    back = read_telemetry(folder)
    assert_frame_equal(back.runs, small_telemetry.runs)
    assert_frame_equal(back.steps, small_telemetry.steps)


def test_steps_of_all_files_are_read_sorted(folder: Path, small_telemetry: Telemetry) -> None:
    whole = folder / "steps" / "transformer-adamw.parquet"
    steps = pl.read_parquet(whole).reverse()
    last = pl.col("run_id") == steps["run_id"][0]
    write_parquet(steps.filter(last), folder / "steps" / "a.parquet")
    write_parquet(steps.filter(~last), whole)
    assert_frame_equal(read_telemetry(folder).steps, small_telemetry.steps)


def test_truncated_file_is_named_with_the_command_that_restores_it(folder: Path) -> None:
    path = folder / "runs.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    complaint = r"runs\.parquet: \(file\): is not a readable parquet file \(.+\)\. Restore it with "
    with pytest.raises(BadInputError, match=complaint + r"`git checkout"):
        read_telemetry(folder)


def test_missing_file_is_named_with_the_command_that_restores_it(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"runs\.parquet: \(file\): .* Restore it with `git"):
        read_telemetry(tmp_path)


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
def test_foreign_columns_are_refused_by_name(folder: Path, change: Change, complaint: str) -> None:
    path = folder / "runs.parquet"
    rewrite(path, change)
    with pytest.raises(BadInputError, match=r"runs\.parquet: " + complaint + RECORD_AGAIN):
        read_table(path, RUN_SCHEMA)


def test_run_that_occurs_twice_is_refused(folder: Path) -> None:
    rewrite(folder / "runs.parquet", lambda runs: pl.concat([runs, runs[:1]]))
    with pytest.raises(BadInputError, match=r"'late_crash-transformer-adamw-s0' occurs twice"):
        read_telemetry(folder)


def test_step_rows_without_a_run_are_refused(folder: Path) -> None:
    rewrite(folder / "runs.parquet", lambda runs: runs[1:])
    complaint = r"transformer-adamw\.parquet: run_id: .*'late_crash-transformer-adamw-s0' have no"
    with pytest.raises(BadInputError, match=complaint):
        read_telemetry(folder)


@pytest.mark.parametrize(("kept", "rows"), [(pl.col("step") < 7, 7), (pl.lit(False), 0)])
def test_missing_step_rows_are_counted(folder: Path, kept: pl.Expr, rows: int) -> None:
    mine = pl.col("run_id") == "late_crash-transformer-adamw-s0"
    path = folder / "steps" / "transformer-adamw.parquet"
    rewrite(path, lambda steps: steps.filter(~mine | kept))
    with pytest.raises(BadInputError, match=rf"has {rows} step rows and reports 8\. Restore"):
        read_telemetry(folder)


def test_selection_keeps_the_steps_of_the_runs_it_keeps(small_telemetry: Telemetry) -> None:
    twins = small_telemetry.select(pl.col("kind") == "twin")
    assert twins.runs.height == 3
    assert set(twins.steps["run_id"]) == set(twins.runs["run_id"])


def test_full_disk_is_one_error_and_keeps_the_old_file(folder: Path) -> None:
    path = folder / "runs.parquet"
    before = path.read_bytes()
    partial = folder / ".runs.parquet.partial"
    partial.symlink_to("/dev/full")
    complaint = r"runs\.parquet: \(file\): cannot be written \(.*No space left.*\)\. Free space"
    with pytest.raises(BadInputError, match=complaint):
        write_parquet(pl.read_parquet(path), path)
    assert path.read_bytes() == before
    assert not partial.is_symlink()
