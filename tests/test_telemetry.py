import polars as pl
import pytest
from polars.testing import assert_frame_equal

from failbench.base.errors import BadInputError
from failbench.base.slices import partners
from failbench.base.telemetry import read_telemetry, write_parquet
from failbench.base.telemetry_stream import number_of_runs, refuse_foreign, telemetry_batches

RECORD_AGAIN = r"This is not failbench telemetry of this version; record it again\."
LATE = "late_crash-transformer-adamw-s0"


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


def assert_same(batches, telemetry):
    assert_frame_equal(pl.concat(batch.runs for batch in batches), telemetry.runs)
    assert_frame_equal(pl.concat(batch.steps for batch in batches), telemetry.steps)


def test_telemetry_comes_back_sorted_as_it_was_written(folder, small_telemetry):
    rewrite(folder / "steps" / "a.parquet", pl.DataFrame.reverse)
    assert_same([read_telemetry(folder)], small_telemetry)


@pytest.mark.parametrize("rows", [1, 11, 12, 23, 35, 1000])
def test_batches_are_the_telemetry_whatever_their_size_and_hold_whole_runs(
    folder, small_telemetry, rows
):
    """Runs have no, eight or ten steps here, so that eleven rows hold the longest."""
    batches = list(telemetry_batches(folder, rows))
    assert_same(batches, small_telemetry)
    for batch in batches:
        assert batch.runs["steps"].sum() == batch.steps.height
        assert batch.runs.height + batch.steps.height <= rows or batch.runs.height == 1


@pytest.mark.parametrize("rows", [7919, 131_072])
def test_batches_of_what_is_recorded_are_what_is_read_at_once(repository, rows):
    folder = repository / "data" / "telemetry"
    whole, batches = read_telemetry(folder), list(telemetry_batches(folder, rows))
    assert len(batches) > 4
    assert_same(batches, whole)
    assert number_of_runs(folder) == whole.runs.height


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


def orphan(run_id):
    def change(steps):
        more = steps[:1].with_columns(run_id=pl.lit(run_id))
        return pl.concat([steps, more]).sort("run_id", "step")

    return change


def follows(before, keys):
    return rf"\.parquet: run_id: '(.*)' follows '{before}', and rows must ascend by run_id{keys}"


LATE_RUN, AT_ONCE, IN_BATCHES = pl.col("run_id") == LATE, [read_telemetry], [in_batches]
CHANGES = {
    "a column is missing": ("runs", lambda runs: runs.drop("seed")),
    "a run twice": ("runs", lambda runs: pl.concat([runs, runs.tail(1)])),
    "runs from behind": ("runs", pl.DataFrame.reverse),
    "a run is missing": ("runs", lambda runs: runs[1:]),
    "no step": ("steps/b", lambda steps: steps.filter(~LATE_RUN)),
    "the last step is missing": ("steps/b", lambda steps: steps[:-1]),
    "an orphan between": ("steps/a", orphan("no_start")),
    "steps not by run": ("steps/a", lambda steps: steps.sort("step")),
    "a step twice": ("steps/b", lambda steps: pl.concat([steps[:3], steps[1:]])),
}


@pytest.mark.parametrize(
    ("reads", "case", "complaint"),
    [
        (None, "a column is missing", r"seed: the column is missing\. " + RECORD_AGAIN),
        (AT_ONCE, "a run twice", "'runaway-.*' occurs twice"),
        (AT_ONCE, "a run is missing", rf"b\.parquet: run_id: .*'{LATE}' have no"),
        (AT_ONCE, "no step", r"has 0 step rows and reports 8\. Restore"),
        (
            IN_BATCHES,
            "the last step is missing",
            r"9 step rows and reports 10\. Restore the folder",
        ),
        (IN_BATCHES, "an orphan between", r"a\.parquet: run_id: the step rows of 'no_start'"),
        (IN_BATCHES, "runs from behind", "runs" + follows(".*", " to be read")),
        (IN_BATCHES, "a run twice", "runs" + follows(r"\1", " to")),
        (IN_BATCHES, "steps not by run", "a" + follows(".*", " and step")),
        (IN_BATCHES, "a step twice", "b" + follows(r"\1", " and step")),
    ],
)
def test_what_does_not_fit_is_refused_by_file_column_and_remedy(folder, reads, case, complaint):
    file, change = CHANGES[case]
    rewrite(folder / f"{file}.parquet", change)
    for read in reads or (read_telemetry, in_batches):
        with pytest.raises(BadInputError, match=complaint):
            read(folder)


def test_a_full_disk_is_one_error_and_keeps_the_old_file(folder):
    path = folder / "runs.parquet"
    before = path.read_bytes()
    partial = folder / ".runs.parquet.partial"
    partial.symlink_to("/dev/full")
    complaint = r"runs\.parquet: \(file\): cannot be written \(.*No space left.*\)\. Free space"
    with pytest.raises(BadInputError, match=complaint):
        write_parquet(pl.read_parquet(path), path)
    assert path.read_bytes() == before
    assert not partial.is_symlink()


def test_partners_share_outcome_presence_of_an_error_and_signal_and_are_labelled():
    rows = [
        ("mystery", "unknown", "killed", None, "SIGKILL"),
        ("other_mystery", "unknown", "killed", None, "SIGKILL"),
        ("same", "data_pipeline", "killed", None, "SIGKILL"),
        ("other_outcome", "data_pipeline", "hung", None, "SIGKILL"),
        ("with_error", "data_pipeline", "killed", "KeyError", "SIGKILL"),
        ("without_signal", "memory_hardware", "killed", None, None),
        # any error is like any other, and no signal like no signal
        ("crash", "unknown", "crash", "KeyError", None),
        ("like_crash", "model_software", "crash", "RuntimeError", None),
    ]
    columns = ("scenario", "category", "outcome", "error_type", "exit_signal")
    failing = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
    assert partners(failing).rows() == [
        ("crash", "like_crash", "model_software"),
        ("mystery", "same", "data_pipeline"),
        ("other_mystery", "same", "data_pipeline"),
    ]
