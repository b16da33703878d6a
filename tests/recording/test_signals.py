"""What a monitor measures is recorded beside a campaign, and changes nothing in it."""

import shutil

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from small_campaign import RUNS, SCENARIOS, record

from failbench.monitor.records.tables import histories, read_monitored
from failbench.recording.signals import compared_steps, monitor_code

NAME = "transformer-adamw"


def step(number, loss, memory=0):
    return {"step": number, "loss": loss, "memory_bytes": memory}


def test_recordings_are_compared_in_what_the_machine_does_not_decide():
    first = [step(0, 3.0), step(1, float("nan")), step(2, None)]
    assert compared_steps(first, [{**row, "memory_bytes": 7} for row in first]) == (3, True)
    assert compared_steps(first, [*first[:2], step(2, 1.0)]) == (3, False)


def test_what_reads_logs_is_no_part_of_what_measures(monkeypatch):
    from failbench.recording import signals

    before = monitor_code()
    for names, changes in ((("diagnosis.py",), False), (("losses.py",), True)):
        monitor_code.cache_clear()
        monkeypatch.setattr(signals, "READS", (*signals.READS, *names))
        assert (monitor_code() != before) == changes
    monitor_code.cache_clear()


@pytest.mark.system
def test_signals_are_recorded_once_and_leave_the_telemetry_as_it_was(uninterrupted, tmp_path):
    folder, before = uninterrupted
    copy = shutil.copytree(folder, tmp_path / "copy")
    after = record(copy, "--signals", "light")
    assert_frame_equal(after.runs, before.runs)
    monitored = read_monitored(copy / "out/monitor")
    assert monitored.runs.height == RUNS
    assert monitored.runs["equal"].all()
    ends = dict(monitored.runs.filter(kind="failure").select("scenario", "end_kind").rows())
    assert ends == dict(zip(SCENARIOS, ("out of memory", "killed"), strict=True))
    healthy = monitored.runs.filter(pl.col("kind") != "failure")
    assert set(healthy["end_kind"]) == {"completed"}
    for run, history in histories(monitored):
        assert (history.rows[0].step, run["level"]) == (0, "light")
    written = (copy / "out/monitor/runs.parquet").stat().st_mtime_ns
    record(copy, "--signals", "light")
    assert (copy / "out/monitor/runs.parquet").stat().st_mtime_ns == written


@pytest.mark.system
def test_faults_that_begin_later_are_recorded_from_step_0_too(uninterrupted, tmp_path):
    copy = shutil.copytree(uninterrupted[0], tmp_path / "copy")
    record(copy, "--signals", "light", "--from-start")
    runs = read_monitored(copy / "out/monitor").runs
    assert set(runs["kind"]) == {"from_start"}
    assert set(runs["run_id"]) == {f"{name}-{NAME}-s0-from-start" for name in SCENARIOS}
    assert set(runs["onset_step"]) == {0}
    assert runs["equal"].null_count() == runs.height
