"""Real campaigns, small: killed, started again, and recorded again where something changed."""

import gzip
import json
import shutil

import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal
from small_campaign import (
    JOURNAL,
    OUT_OF_MEMORY,
    RUNS,
    SCENARIOS,
    deterministic,
    record,
    wait_until,
)
from small_campaign import living_in_session as living

from failbench.monitor.records.tables import histories, read_monitored

pytestmark = pytest.mark.system

ARENA_OF_SMALL_OBJECTS = 2**20
"""Bytes that Python takes at once, at a step that may differ: some readings are one apart."""


@pytest.fixture
def copy(uninterrupted, tmp_path):
    return shutil.copytree(uninterrupted[0], tmp_path / "copy")


def test_every_run_is_recorded_and_ends_as_declared(uninterrupted):
    _, telemetry = uninterrupted
    assert telemetry.runs.height == RUNS
    failing = telemetry.runs.filter(kind="failure")
    endings = dict(failing.select("scenario", "ending").rows())
    assert endings == dict(zip(SCENARIOS, ("exception", "signal"), strict=True))
    twins = telemetry.runs.filter(kind="twin")
    assert set(twins["ending"]) == {"completed"}
    # The limit of a run is the one that was measured on its twin.
    capacities = twins.join(failing, left_on="twin_of", right_on="run_id")
    assert (capacities["capacity_bytes"] == capacities["capacity_bytes_right"]).all()


def test_a_campaign_killed_half_way_is_resumed(uninterrupted, make_project, start):
    known, telemetry = uninterrupted
    folder = make_project()
    # Everything is recorded again, but against the capacities that were measured before.
    options = ["--known", str(known / "out"), "--again", *telemetry.runs["run_id"]]
    process = start(folder, *options)
    wait_until(lambda: len(list((folder / JOURNAL).glob("*.gz"))) >= RUNS // 2)
    assert process.poll() is None
    assert living(process.pid) > {process.pid}
    process.kill()
    process.wait()
    entries = [gzip.decompress(path.read_bytes()) for path in (folder / JOURNAL).glob("*.gz")]
    kept = [json.loads(entry)["run"] for entry in entries]

    wait_until(lambda: not living(process.pid))
    assert len(kept) < RUNS
    resumed = record(folder, *options)

    for mine, theirs in zip(deterministic(resumed), deterministic(telemetry), strict=True):
        assert_frame_equal(mine, theirs)
    readings = resumed.steps.join(telemetry.steps, on=["run_id", "step"])
    apart = (readings["memory_bytes"] - readings["memory_bytes_right"]).abs()
    assert apart.max() <= ARENA_OF_SMALL_OBJECTS
    assert (resumed.runs["capacity_bytes"] == telemetry.runs["capacity_bytes"]).all()
    assert (resumed.runs["wall_seconds"] != telemetry.runs["wall_seconds"]).all()
    # What the first process recorded is taken as it was, and none of it is recorded twice.
    seconds = dict(resumed.runs.select("run_id", "wall_seconds").rows())
    assert {run["run_id"]: run["wall_seconds"] for run in kept}.items() <= seconds.items()
    assert not (folder / JOURNAL).exists()


def test_a_changed_scenario_is_recorded_again_without_its_twin_or_others(uninterrupted, copy):
    _, telemetry = uninterrupted
    (path,) = (copy / "data" / "scenarios").glob(f"*/{SCENARIOS[0]}.json")
    scenario = json.loads(path.read_text(encoding="utf-8"))
    scenario["fault"]["parameters"]["factor"] += 1
    path.write_text(json.dumps(scenario), encoding="utf-8")
    again = record(copy)
    changed = again.runs.join(telemetry.runs, on=["run_id", "wall_seconds"], how="anti")
    assert changed["run_id"].to_list() == [OUT_OF_MEMORY]
    before = telemetry.runs.join(changed, on="run_id", how="semi")
    assert changed["fingerprint"][0] != before["fingerprint"][0]
    assert changed["capacity_bytes"][0] == before["capacity_bytes"][0]
    others = pl.col("run_id") != OUT_OF_MEMORY
    assert_frame_equal(again.select(others).steps, telemetry.select(others).steps)


def test_remedies_are_recorded_beside_the_run_they_name_and_kept(uninterrupted, copy):
    _, telemetry = uninterrupted
    params = yaml.safe_load((copy / "params.yaml").read_text(encoding="utf-8"))
    params["record"]["remedies"] = {"clipped": {"run": OUT_OF_MEMORY, "clip_norm": 0.25}}
    (copy / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    again = record(copy)
    is_remedy = pl.col("kind") == "remedy"
    assert_frame_equal(again.select(~is_remedy).runs, telemetry.runs)
    (remedied,) = again.runs.filter(is_remedy).iter_rows(named=True)
    assert (remedied["run_id"], remedied["twin_of"]) == (f"{OUT_OF_MEMORY}-clipped", OUT_OF_MEMORY)
    before = telemetry.runs.row(by_predicate=pl.col("run_id") == OUT_OF_MEMORY, named=True)
    assert remedied["nominal_clip_norm"] == 0.25
    for name in ("capacity_bytes", "nominal_learning_rate", "onset_step", "draw"):
        assert remedied[name] == before[name]
    assert remedied["fingerprint"] != before["fingerprint"]
    assert_frame_equal(record(copy).runs, again.runs)


def test_signals_are_recorded_once_and_leave_the_telemetry_as_it_was(uninterrupted, copy):
    after = record(copy, "--signals", "light")
    assert_frame_equal(after.runs, uninterrupted[1].runs)
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


def test_faults_that_begin_later_are_recorded_from_step_0_too(copy):
    record(copy, "--signals", "light", "--from-start")
    runs = read_monitored(copy / "out/monitor").runs
    expected = [f"{name}-transformer-adamw-s0-from-start" for name in SCENARIOS]
    assert sorted(runs["run_id"]) == sorted(expected)
    assert set(runs.select("kind", "onset_step").rows()) == {("from_start", 0)}
    assert runs["equal"].null_count() == runs.height
