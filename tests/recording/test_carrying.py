"""Fingerprints are carried over where a drawn sample is recorded alike, and else they stay."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from made_up_campaign import DRAWN_AGAIN, REMEDIED, RUNS, SETTING, MadeUpRuns
from polars.testing import assert_frame_equal
from small_campaign import OUT_OF_MEMORY, SCENARIOS

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_telemetry, write_parquet
from failbench.recording.campaign import Campaign
from failbench.recording.carrying import (
    CARRIED,
    CARRIED_SCHEMA,
    Candidate,
    Comparison,
    candidates,
    carry_over,
    drawn_sample,
    read_carried,
    repeat,
    with_fingerprints,
)
from failbench.recording.journal import archive
from failbench.recording.plan import PlannedRun, Setting

STALE = "0123456789abcdef"
"""A fingerprint of digits and letters that no code has."""
RUNS_FILE = Path("runs.parquet")


@pytest.fixture
def folder(campaign_in: Callable[[str], Campaign], tmp_path: Path) -> Path:
    """A made-up campaign, recorded by code whose fingerprints were other ones."""
    campaign = campaign_in("recorded")
    entries = campaign.record(1, lambda _: None)
    recorded = archive(tmp_path / "telemetry", SETTING, campaign.tables(entries), whole=True)
    stale = recorded.runs.with_columns(pl.lit(STALE).alias("fingerprint"))
    write_parquet(stale, tmp_path / "telemetry" / RUNS_FILE)
    return tmp_path / "telemetry"


@pytest.fixture
def again(campaign_in: Callable[[str], Campaign], folder: Path, executed: Counter[str]) -> Campaign:
    """The campaign that records a sample again, of which nothing is executed yet."""
    executed.clear()
    return campaign_in("again")


def outdated(campaign: Campaign, folder: Path, *excepted: str) -> list[Candidate]:
    return candidates(campaign, read_telemetry(folder).runs, excepted, folder / RUNS_FILE)


def repeated(
    campaign: Campaign, folder: Path, sample: list[Candidate]
) -> list[tuple[Candidate, Comparison]]:
    known = read_telemetry(folder)
    return repeat(sample, {SETTING: campaign}, known, 1, lambda *_: None, threading.Event())


def change_loss(folder: Path, run_id: str, step: int) -> None:
    path = folder / "steps" / f"{SETTING.name}.parquet"
    steps = pl.read_parquet(path)
    here = (pl.col("run_id") == run_id) & (pl.col("step") == step)
    changed = pl.when(here).then(pl.col("loss") + 1e-6).otherwise(pl.col("loss"))
    write_parquet(steps.with_columns(changed.alias("loss").cast(pl.Float32)), path)


def test_runs_of_another_fingerprint_are_candidates_with_the_draw_that_they_were_recorded_with(
    again: Campaign, folder: Path
) -> None:
    known = read_telemetry(folder)
    found = outdated(again, folder)
    assert [each.run_id for each in found] == sorted(known.runs["run_id"])
    assert len(found) == RUNS
    assert {each.run_id: each.planned.draw for each in found if each.planned.draw} == {
        DRAWN_AGAIN: 1,
        DRAWN_AGAIN.removesuffix("-twin"): 1,
    }
    assert STALE not in {each.fingerprint for each in found}
    current = with_fingerprints(known.runs, found[3:])
    assert candidates(again, current, (), RUNS_FILE) == found[:3]


def test_runs_with_the_fault_of_an_excepted_scenario_are_left_out_and_its_twins_are_not(
    again: Campaign, folder: Path
) -> None:
    left_out = {each.run_id for each in outdated(again, folder)} - {
        each.run_id for each in outdated(again, folder, SCENARIOS[0])
    }
    other_seed = OUT_OF_MEMORY.replace("-s0", "-s1")
    assert left_out == {OUT_OF_MEMORY, other_seed, f"{REMEDIED}-clipped"}


def test_runs_of_other_versions_are_refused(again: Campaign, folder: Path) -> None:
    again.provenance["torch_version"] = "0.0"
    with pytest.raises(BadInputError, match=r"torch_version: .* and here is 0\.0\."):
        outdated(again, folder)


def test_runs_that_would_now_be_planned_otherwise_are_refused(
    again: Campaign, folder: Path
) -> None:
    def moved(planned: PlannedRun) -> PlannedRun:
        return replace(planned, nominal=replace(planned.nominal, warmup_steps=9999))

    again.successes = [*again.successes[:4], *map(moved, again.successes[4:])]
    with pytest.raises(BadInputError, match=r"nominal_warmup_steps: .* would now be planned with"):
        outdated(again, folder)


@pytest.mark.parametrize("size", [1, 4, 9, RUNS, RUNS + 5])
def test_a_sample_is_spread_over_settings_and_kinds_and_drawn_by_the_seed(
    size: int, again: Campaign, folder: Path
) -> None:
    other = [replace(each, setting=Setting("gru", "adamw")) for each in outdated(again, folder)]
    population = [*outdated(again, folder), *other[: RUNS // 2]]
    sample = drawn_sample(population, size, seed=0)
    keys = [(each.setting.name, each.run_id) for each in sample]
    assert len(keys) == len(set(keys)) == size
    assert sample == drawn_sample(population[::-1], size, seed=0)
    there = Counter((each.setting, each.planned.kind) for each in population)
    drawn = Counter((each.setting, each.planned.kind) for each in sample)
    fewest = min((drawn[key] for key in there if drawn[key] < there[key]), default=RUNS)
    assert max(drawn.values()) <= fewest + 1


def test_equal_runs_carry_all_fingerprints_over_and_change_nothing_else(
    again: Campaign, folder: Path, made_up_runs: MadeUpRuns
) -> None:
    before, steps_before = read_telemetry(folder), (folder / "steps").glob("*")
    contents = {path: path.read_bytes() for path in steps_before}
    found = outdated(again, folder)
    sample = drawn_sample(found, 7, seed=3)
    compared = repeated(again, folder, sample)
    assert [comparison.difference for _, comparison in compared] == [None] * 7
    assert made_up_runs.counts == Counter(each.run_id for each in sample)
    for each in sample:
        with_fault = each.planned.kind in ("failure", "remedy")
        limit = each.stored["capacity_bytes"] if with_fault else None
        assert made_up_runs.limits[each.run_id] == limit

    carry_over(folder, found, compared, seed=3)

    after = read_telemetry(folder)
    assert_frame_equal(after.runs.drop("fingerprint"), before.runs.drop("fingerprint"))
    today = {each.run_id: each.fingerprint for each in found}
    assert dict(after.runs.select("run_id", "fingerprint").rows()) == today
    assert {path: path.read_bytes() for path in (folder / "steps").glob("*")} == contents
    assert outdated(again, folder) == []
    table = read_carried(folder / CARRIED)
    assert table.schema == CARRIED_SCHEMA
    assert table["run_id"].to_list() == [each.run_id for each in sample]
    assert table["fingerprint_after"].to_list() == [each.fingerprint for each in sample]
    assert set(table["fingerprint_before"]) == {STALE}
    assert table["steps_compared"].to_list() == [each.stored["steps"] for each in sample]
    assert table.select("candidates", "seed").unique().row(0) == (RUNS, 3)


def test_a_loss_that_differs_is_named_with_its_step(again: Campaign, folder: Path) -> None:
    change_loss(folder, OUT_OF_MEMORY, step=30)
    found = [each for each in outdated(again, folder) if each.run_id.startswith(OUT_OF_MEMORY)]
    differences = {
        candidate.run_id: comparison.difference
        for candidate, comparison in repeated(again, folder, found)
    }
    difference = differences.pop(OUT_OF_MEMORY)
    assert difference is not None
    assert difference.startswith("loss at step 30 was ")
    assert set(differences.values()) == {None}


def test_a_run_recorded_meanwhile_keeps_the_fingerprint_that_it_was_given(
    again: Campaign, folder: Path
) -> None:
    found = outdated(again, folder)
    runs = read_telemetry(folder).runs
    newer = runs.with_columns(
        pl.when(pl.col("run_id") == found[0].run_id)
        .then(pl.lit("newer"))
        .otherwise("fingerprint")
        .alias("fingerprint")
    )
    fingerprints = dict(with_fingerprints(newer, found).select("run_id", "fingerprint").rows())
    assert fingerprints.pop(found[0].run_id) == "newer"
    assert fingerprints == {each.run_id: each.fingerprint for each in found[1:]}


@pytest.mark.parametrize("content", ["run_id,steps\na,3\n", "", "\x00\xff"])
def test_a_table_of_other_columns_is_refused_and_no_fingerprint_written(
    content: str, again: Campaign, folder: Path
) -> None:
    (folder / CARRIED).write_text(content, encoding="utf-8")
    found = outdated(again, folder)
    with pytest.raises(BadInputError, match="Restore it from the last commit"):
        carry_over(folder, found, [], seed=0)
    assert set(read_telemetry(folder).runs["fingerprint"]) == {STALE}
