"""The command `carry`, on runs that are made up and, with the end-to-end tests, on real ones."""

import signal
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from small_campaign import CLI, DETECTOR, OUT_OF_MEMORY, SCENARIOS, files_of, run
from small_campaign import RUNS as PLANNED

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
STALE = "0123456789abcdef"
CAPACITY = 32 * 2**20
"""Bytes of memory: enough for a small model, and not for a validation set many times as large."""


def archive_stale(folder, runs, steps):
    stale = runs.with_columns(fingerprint=pl.lit(STALE))
    archive(folder / TELEMETRY, SETTING, Telemetry(stale, steps), whole=True)


@pytest.mark.system
def test_equal_runs_get_the_fingerprints_of_today_but_for_the_excepted(make_project):
    folder = make_project()
    campaign = Campaign(
        SETTING,
        tuple(each for each in read_scenarios(folder / "data/scenarios") if each.id in SCENARIOS),
        read_section("record", RecordParams, folder / "params.yaml"),
        DETECTOR,
        folder / "journal",
        corpus_cache(folder / "data/.recording"),
    )
    campaign.start()
    failing = {pair.failure.run_id: pair for pair in campaign.pairs}
    chosen = [campaign.successes[0], failing[OUT_OF_MEMORY].twin]
    chosen += [failing[name].failure for name in (OUT_OF_MEMORY, KILLED)]
    entries = [campaign.repeat(planned, CAPACITY)[0] for planned in chosen]
    assert max(row["memory_bytes"] for row in entries[1].steps) < CAPACITY
    endings = [entry.run["ending"] for entry in entries]
    assert endings == ["completed", "completed", "exception", "signal"]
    rows = [{name: entry.run.get(name) for name in RUN_SCHEMA} for entry in entries]
    today = pl.DataFrame(rows, schema=RUN_SCHEMA).sort("run_id")
    archive_stale(folder, today, pl.concat(map(steps_of, entries)).sort("run_id", "step"))

    command = [*CLI, "carry", "--except", SCENARIOS[1]]
    done = run(command, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The fingerprints of 3 of 4 runs were carried over." in done.stdout
    after = read_telemetry(folder / TELEMETRY).runs
    excepted = pl.col("run_id") == KILLED
    assert_frame_equal(after.filter(~excepted), today.filter(~excepted))
    assert after.filter(excepted)["fingerprint"].item() == STALE
    compared = pl.read_csv(folder / TELEMETRY / "carried.csv")
    assert sorted(compared["run_id"]) == sorted(after.filter(~excepted)["run_id"])
    assert not (folder / "data/.recording" / TELEMETRY / "carry").exists()
    again = run(command, folder)
    told = "No fingerprint is to be carried over. No file was changed.\n"
    assert (again.returncode, again.stdout) == (0, told)


@pytest.fixture
def made_up_project(make_project, campaign_in, made_up_runs, monkeypatch):
    folder = make_project()
    recorded = campaign_in("recorded")
    tables = recorded.tables(recorded.record(1, lambda _: None))
    archive_stale(folder, tables.runs, tables.steps)
    made_up_runs.counts.clear()
    monkeypatch.chdir(folder)
    handler = signal.getsignal(signal.SIGINT)
    yield folder
    signal.signal(signal.SIGINT, handler)


def test_an_interruption_changes_nothing(made_up_project, made_up_runs, monkeypatch, capsys):
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
