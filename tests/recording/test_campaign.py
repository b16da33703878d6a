"""Real campaigns, small: killed, started again, and recorded again where something changed."""

import gzip
import json
import shutil

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from small_campaign import (
    JOURNAL,
    OUT_OF_MEMORY,
    RUNS,
    SCENARIOS,
    deterministic,
    living_in_session,
    record,
    wait_until,
)

pytestmark = pytest.mark.system

ARENA_OF_SMALL_OBJECTS = 2**20
"""Bytes that Python takes at once for small objects: the step at which it takes more may differ, so
that some readings are one apart."""


@pytest.fixture
def copy(uninterrupted, tmp_path):
    """The folder of the uninterrupted campaign, to change."""
    return shutil.copytree(uninterrupted[0], tmp_path / "copy")


def test_every_run_is_recorded_and_ends_as_declared(uninterrupted):
    _, telemetry = uninterrupted
    assert telemetry.runs.height == RUNS
    failing = telemetry.runs.filter(pl.col("kind") == "failure")
    endings = dict(failing.select("scenario", "ending").rows())
    assert endings == dict(zip(SCENARIOS, ("exception", "signal"), strict=True))
    twins = telemetry.runs.filter(pl.col("kind") == "twin")
    assert set(twins["ending"]) == {"completed"}
    # The limit of a run is the one that was measured on its twin.
    capacities = twins.join(failing, left_on="twin_of", right_on="run_id")
    assert (capacities["capacity_bytes"] == capacities["capacity_bytes_right"]).all()


def test_campaign_killed_half_way_and_started_again_gives_the_same(
    uninterrupted, make_project, start
):
    known, telemetry = uninterrupted
    folder = make_project()
    # Everything is recorded again, but against the capacities that were measured before.
    options = ["--known", str(known / "out"), "--again", *telemetry.runs["run_id"]]
    process = start(folder, *options)
    wait_until(lambda: len(list((folder / JOURNAL).glob("*.gz"))) >= RUNS // 2)
    assert process.poll() is None
    assert living_in_session(process.pid) > {process.pid}
    process.kill()
    process.wait()
    kept = {
        path.name.removesuffix(".json.gz"): json.loads(gzip.decompress(path.read_bytes()))["run"][
            "wall_seconds"
        ]
        for path in (folder / JOURNAL).glob("*.gz")
    }

    wait_until(lambda: not living_in_session(process.pid))
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
    for name, seconds in kept.items():
        found = resumed.runs.filter(pl.col("run_id") == name)["wall_seconds"].item()
        assert found == seconds
    assert not (folder / JOURNAL).exists()


def test_changed_scenario_is_recorded_again_without_its_twin_or_others(uninterrupted, copy):
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
    others = pl.col("run_id") != changed["run_id"][0]
    assert_frame_equal(again.select(others).steps, telemetry.select(others).steps)
