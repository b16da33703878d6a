"""The command `carry`, on runs that are made up and, with the end-to-end tests, on real ones."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from small_campaign import DETECTOR, OUT_OF_MEMORY, PATIENCE, SCENARIOS
from small_campaign import RUNS as PLANNED

from failbench.base.detector import DetectorParams
from failbench.base.params import read_section
from failbench.base.scenarios import read_scenarios
from failbench.base.telemetry import RUN_SCHEMA, Telemetry, read_telemetry
from failbench.cli.main import main
from failbench.cli.terminal import INTERRUPTED
from failbench.recording.campaign import Campaign
from failbench.recording.fingerprint import corpus_cache
from failbench.recording.journal import archive, steps_of
from failbench.recording.plan import RecordParams, Setting

SETTING = Setting("transformer", "adamw")
TELEMETRY = Path("data/telemetry")
KILLED = f"{SCENARIOS[1]}-transformer-adamw-s0"
FAILING = (OUT_OF_MEMORY, KILLED)
ENDINGS = ("exception", "signal")
STALE = "0123456789abcdef"
CAPACITY = 32 * 2**20
"""Bytes of memory: enough for a small model, and not for a validation set many times as large."""


@pytest.fixture(scope="module")
def recorded(make_project):
    """A healthy run, a twin and two failing runs, recorded by code of other fingerprints.

    The table of runs that comes with the folder has the fingerprints of today.
    """
    folder = make_project()
    campaign = Campaign(
        SETTING,
        tuple(each for each in read_scenarios(folder / "data/scenarios") if each.id in SCENARIOS),
        read_section("record", RecordParams, folder / "params.yaml"),
        DetectorParams.model_validate(DETECTOR),
        folder / "journal",
        corpus_cache(folder / "data/.recording"),
    )
    campaign.start()
    failing = {pair.failure.run_id: pair for pair in campaign.pairs}
    healthy = [campaign.successes[0], failing[OUT_OF_MEMORY].twin]
    entries = [campaign.repeat(planned, CAPACITY)[0] for planned in healthy]
    assert max(row["memory_bytes"] for row in entries[1].steps) < CAPACITY
    entries += [campaign.repeat(failing[run_id].failure, CAPACITY)[0] for run_id in FAILING]
    assert [entry.run["ending"] for entry in entries] == [*["completed"] * 2, *ENDINGS]
    rows = [{name: entry.run.get(name) for name in RUN_SCHEMA} for entry in entries]
    runs = pl.DataFrame(rows, schema=RUN_SCHEMA).sort("run_id")
    steps = pl.concat(map(steps_of, entries)).sort("run_id", "step")
    stale = runs.with_columns(pl.lit(STALE).alias("fingerprint"))
    archive(folder / TELEMETRY, SETTING, Telemetry(stale, steps), whole=True)
    return folder, runs


@pytest.fixture
def project(recorded, tmp_path):
    return shutil.copytree(recorded[0], tmp_path / "project")


def carry(folder, *options):
    return subprocess.run(
        [sys.executable, "-m", "failbench.cli.main", "carry", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.system
def test_equal_runs_get_the_fingerprints_of_today_but_for_the_excepted(recorded, project):
    today = recorded[1]
    done = carry(project, "--except", SCENARIOS[1])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The fingerprints of 3 of 4 runs were carried over." in done.stdout
    after = read_telemetry(project / TELEMETRY).runs
    excepted = pl.col("run_id") == KILLED
    assert_frame_equal(after.filter(~excepted), today.filter(~excepted))
    assert after.filter(excepted)["fingerprint"].item() == STALE
    compared = pl.read_csv(project / TELEMETRY / "carried.csv")
    assert sorted(compared["run_id"]) == sorted(after.filter(~excepted)["run_id"])
    assert not (project / "data/.recording" / TELEMETRY / "carry").exists()

    again = carry(project, "--except", SCENARIOS[1])
    assert (again.returncode, again.stdout) == (
        0,
        "No fingerprint is to be carried over. No file was changed.\n",
    )


@pytest.fixture
def made_up_project(make_project, campaign_in, executed, monkeypatch):
    """A working directory with made-up runs of other fingerprints: its plan's, and others.

    What the command does with interruptions is undone.
    """
    folder = make_project()
    recorded = campaign_in("recorded")
    tables = recorded.tables(recorded.record(1, lambda _: None))
    stale = tables.runs.with_columns(pl.lit(STALE).alias("fingerprint"))
    archive(folder / TELEMETRY, SETTING, Telemetry(stale, tables.steps), whole=True)
    executed.clear()
    monkeypatch.chdir(folder)
    handler = signal.getsignal(signal.SIGINT)
    yield folder
    signal.signal(signal.SIGINT, handler)


def test_an_interruption_changes_nothing_and_the_same_command_goes_on(
    made_up_project, made_up_runs, monkeypatch, capsys
):
    before = files_of(made_up_project / TELEMETRY)
    journal = made_up_project / "data/.recording" / TELEMETRY / "carry"

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return made_up_runs.execute(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("failbench.recording.campaign.execute", interrupted)
        assert main(["carry", "--workers", "1"]) == INTERRUPTED
    first = made_up_runs.counts.total()
    assert 0 < first < PLANNED
    stopped = f"Stopped after {first} of {PLANNED} runs. No file was changed."
    assert capsys.readouterr().out.startswith(stopped)
    assert files_of(made_up_project / TELEMETRY) == before
    assert len(list(journal.rglob("*.gz"))) == first

    assert main(["carry", "--workers", "1"]) == 0
    assert set(made_up_runs.counts.values()) == {1}
    assert made_up_runs.counts.total() == PLANNED
    assert not journal.exists()
