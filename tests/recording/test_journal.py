"""Recorded runs: kept in a journal, judged, and put into the committed tables."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.detector import DetectorParams
from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.recording.journal import (
    JournalEntry,
    archive,
    read_entry,
    read_known,
    tables_of,
    write_entry,
)
from failbench.recording.plan import Setting

ENTRY = JournalEntry({"run_id": "one", "steps": 1}, [{"step": 0, "loss": float("nan")}])


def test_entry_comes_back_as_it_was_written(tmp_path):
    write_entry(tmp_path, ENTRY)
    back = read_entry(tmp_path, "one")
    assert back is not None
    assert repr(back) == repr(ENTRY)


def test_full_disk_is_one_error_and_keeps_the_old_entry(tmp_path):
    write_entry(tmp_path, ENTRY)
    before = (tmp_path / "one.json.gz").read_bytes()
    (tmp_path / ".one.json.gz.partial").symlink_to("/dev/full")
    with pytest.raises(BadInputError, match=r"No space left on device.*Free space"):
        write_entry(tmp_path, ENTRY)
    assert (tmp_path / "one.json.gz").read_bytes() == before


def test_damaged_entry_is_named_with_its_remedy(tmp_path):
    write_entry(tmp_path, ENTRY)
    path = tmp_path / "one.json.gz"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(BadInputError, match=r"one\.json\.gz.*Delete it"):
        read_entry(tmp_path, "one")


PARAMS = DetectorParams(
    deviations=3,
    consecutive_steps=20,
    head_steps=10,
    tail_steps=5,
    validations=1,
    slow_factor=2.0,
    worse_nats=0.05,
)


def entries(runs=10, **values):
    """Healthy successes, the first with other values."""
    steps = [
        {"step": step, "loss": 3.0, "step_seconds": 0.1, "validation_loss": 3.0}
        for step in range(20)
    ]
    return [
        JournalEntry(
            {"run_id": f"run_{run}", "kind": "success", "ending": "completed", "steps": 20}
            | (values if run == 0 else {}),
            steps,
        )
        for run in range(runs)
    ]


def test_a_run_has_its_verdict_and_null_for_what_it_never_logged():
    runs = tables_of(entries(width=8), PARAMS).runs
    assert runs["outcome"].to_list() == ["completed"] * 10
    assert runs["width"].to_list() == [8] + [None] * 9


def test_a_column_that_steps_have_not_is_refused():
    (first, *others) = entries()
    misspelt = JournalEntry(first.run, [*first.steps, {"step": 20, "lozz": 1.0}])
    with pytest.raises(BadInputError, match="lozz: is no column"):
        tables_of([misspelt, *others], PARAMS)


ADAMW, SGD = Setting("transformer", "adamw"), Setting("transformer", "sgd")


@pytest.fixture
def of_sgd(small_telemetry):
    renamed = pl.col("run_id", "twin_of").str.replace("adamw", "sgd")
    return Telemetry(
        small_telemetry.runs.with_columns(renamed, optimizer=pl.lit("sgd")).sort("run_id"),
        small_telemetry.steps.with_columns(pl.col("run_id").str.replace("adamw", "sgd")),
    )


@pytest.fixture
def folder(tmp_path, small_telemetry, of_sgd):
    archive(tmp_path, ADAMW, small_telemetry, whole=True)
    archive(tmp_path, SGD, of_sgd, whole=True)
    return tmp_path


def recorded_again(telemetry, scenario):
    """One pair of runs, with other values."""
    pair = telemetry.select(pl.col("scenario") == scenario)
    return Telemetry(
        pair.runs.with_columns(wall_seconds=pl.lit(7.0)),
        pair.steps.with_columns(tokens=pl.lit(77, pl.Int32)),
    )


def test_settings_lie_side_by_side_in_files_of_their_own(folder, small_telemetry, of_sgd):
    known = read_known(folder)
    assert known is not None
    assert_frame_equal(known.runs, pl.concat([small_telemetry.runs, of_sgd.runs]).sort("run_id"))
    for setting, telemetry in ((ADAMW, small_telemetry), (SGD, of_sgd)):
        steps = pl.read_parquet(folder / "steps" / f"{setting.name}.parquet")
        assert_frame_equal(steps, telemetry.steps)


def test_partial_recording_replaces_the_runs_of_the_same_id(folder, small_telemetry):
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


def test_whole_recording_drops_what_it_does_not_hold(folder, small_telemetry, of_sgd):
    again = recorded_again(small_telemetry, "runaway")
    archive(folder, ADAMW, again, whole=True)
    back = read_telemetry(folder)
    assert_frame_equal(back.select(pl.col("optimizer") == "adamw").runs, again.runs)
    assert_frame_equal(back.select(pl.col("optimizer") == "sgd").steps, of_sgd.steps)
