"""Putting runs into the committed tables touches nothing else."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.recording.journal import archive, read_known
from failbench.recording.plan import Setting

ADAMW, SGD = Setting("transformer", "adamw"), Setting("transformer", "sgd")


@pytest.fixture
def of_sgd(small_telemetry: Telemetry) -> Telemetry:
    renamed = pl.col("run_id", "twin_of").str.replace("adamw", "sgd")
    return Telemetry(
        small_telemetry.runs.with_columns(renamed, optimizer=pl.lit("sgd")).sort("run_id"),
        small_telemetry.steps.with_columns(pl.col("run_id").str.replace("adamw", "sgd")),
    )


@pytest.fixture
def folder(tmp_path: Path, small_telemetry: Telemetry, of_sgd: Telemetry) -> Path:
    archive(tmp_path, ADAMW, small_telemetry, whole=True)
    archive(tmp_path, SGD, of_sgd, whole=True)
    return tmp_path


def recorded_again(telemetry: Telemetry, scenario: str) -> Telemetry:
    """One pair of runs, with other values."""
    pair = telemetry.select(pl.col("scenario") == scenario)
    return Telemetry(
        pair.runs.with_columns(wall_seconds=pl.lit(7.0)),
        pair.steps.with_columns(tokens=pl.lit(77, pl.Int32)),
    )


def test_settings_lie_side_by_side_in_files_of_their_own(
    folder: Path, small_telemetry: Telemetry, of_sgd: Telemetry
) -> None:
    known = read_known(folder)
    assert known is not None
    assert_frame_equal(known.runs, pl.concat([small_telemetry.runs, of_sgd.runs]).sort("run_id"))
    for setting, telemetry in ((ADAMW, small_telemetry), (SGD, of_sgd)):
        steps = pl.read_parquet(folder / "steps" / f"{setting.name}.parquet")
        assert_frame_equal(steps, telemetry.steps)


def test_partial_recording_replaces_the_runs_of_the_same_id(
    folder: Path, small_telemetry: Telemetry
) -> None:
    again = recorded_again(small_telemetry, "runaway")
    held = archive(folder, ADAMW, again, whole=False)
    back = read_telemetry(folder)
    assert_frame_equal(back.runs, held.runs)
    assert_frame_equal(back.steps, held.steps)
    mine = (pl.col("scenario") == "runaway") & (pl.col("optimizer") == "adamw")
    assert_frame_equal(back.select(mine).runs, again.runs)
    assert_frame_equal(back.select(mine).steps, again.steps)
    assert back.runs.height == 12
    assert back.select(~mine).runs["wall_seconds"].null_count() == 10


def test_whole_recording_drops_what_it_does_not_hold(
    folder: Path, small_telemetry: Telemetry, of_sgd: Telemetry
) -> None:
    again = recorded_again(small_telemetry, "runaway")
    archive(folder, ADAMW, again, whole=True)
    back = read_telemetry(folder)
    assert_frame_equal(back.select(pl.col("optimizer") == "adamw").runs, again.runs)
    assert_frame_equal(back.select(pl.col("optimizer") == "sgd").steps, of_sgd.steps)
