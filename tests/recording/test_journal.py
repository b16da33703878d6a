"""Recorded runs: kept in a journal, judged, and put into the committed tables."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.recording import journal
from failbench.recording.journal import JournalEntry, archive, read_entry, tables_of, write_entry
from failbench.recording.plan import Setting
from made_up_declarations import detector_params

ENTRY = JournalEntry({"run_id": "one", "steps": 1}, [{"step": 0, "loss": float("nan")}])
PARAMS = detector_params(head_steps=10, tail_steps=5, validations=1)
ADAMW, SGD = Setting("transformer", "adamw"), Setting("transformer", "sgd")


def test_an_entry_comes_back_as_written_a_full_disk_keeps_it_and_a_damaged_one_is_named(tmp_path):
    write_entry(tmp_path, ENTRY)
    assert repr(read_entry(tmp_path, "one")) == repr(ENTRY)
    path = tmp_path / "one.json.gz"
    before = path.read_bytes()
    (tmp_path / ".one.json.gz.partial").symlink_to("/dev/full")
    with pytest.raises(BadInputError, match=r"No space left on device.*Free space"):
        write_entry(tmp_path, ENTRY)
    assert path.read_bytes() == before
    path.write_bytes(before[:20])
    with pytest.raises(BadInputError, match=r"one\.json\.gz.*Delete it"):
        read_entry(tmp_path, "one")


def test_a_run_has_its_verdict_null_for_what_it_never_logged_and_no_other_column():
    step = {"loss": 3.0, "step_seconds": 0.1, "validation_loss": 3.0}
    steps = [{"step": number, **step} for number in range(20)]
    row = {"kind": "success", "ending": "completed", "steps": 20}
    first, *others = [JournalEntry({"run_id": f"run_{run}", **row}, steps) for run in range(10)]
    first.run["width"] = 8
    runs = tables_of([first, *others], PARAMS).runs
    assert runs["outcome"].to_list() == ["completed"] * 10
    assert runs["width"].to_list() == [8] + [None] * 9
    misspelt = JournalEntry(first.run, [*steps, {"step": 20, "lozz": 1.0}])
    with pytest.raises(BadInputError, match="lozz: is no column"):
        tables_of([misspelt, *others], PARAMS)


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


def test_settings_lie_side_by_side_in_files_of_their_own(folder, small_telemetry, of_sgd):
    both = pl.concat([small_telemetry.runs, of_sgd.runs]).sort("run_id")
    assert_frame_equal(journal.read_known(folder).runs, both)
    for setting, telemetry in ((ADAMW, small_telemetry), (SGD, of_sgd)):
        steps = pl.read_parquet(folder / "steps" / f"{setting.name}.parquet")
        assert_frame_equal(steps, telemetry.steps)


@pytest.mark.parametrize("whole", [False, True])
def test_a_recording_replaces_its_runs_or_its_setting(folder, small_telemetry, whole):
    of_setting, before = pl.col("optimizer") == "adamw", read_telemetry(folder)
    mine = (pl.col("scenario") == "runaway") & of_setting
    pair = small_telemetry.select(mine)
    again = Telemetry(
        pair.runs.with_columns(wall_seconds=pl.lit(7.0)),
        pair.steps.with_columns(tokens=pl.lit(77, pl.Int32)),
    )
    held = archive(folder, ADAMW, again, whole=whole)
    back = read_telemetry(folder)
    others = before.select(~of_setting if whole else ~mine)
    for part, expected in ((back, held), (back.select(mine), again), (back.select(~mine), others)):
        assert_frame_equal(part.runs, expected.runs)
        assert_frame_equal(part.steps, expected.steps)
