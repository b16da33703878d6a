"""Fingerprints are carried over where a drawn sample is recorded alike, and else they stay."""

import math
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from made_up_campaign import DRAWN_AGAIN, REMEDIED, RUNS, SETTING
from polars.testing import assert_frame_equal
from small_campaign import OUT_OF_MEMORY, SCENARIOS

from failbench.base.errors import BadInputError
from failbench.base.telemetry import read_telemetry, write_parquet
from failbench.recording.carrying import (
    CARRIED,
    CARRIED_SCHEMA,
    MOST_STEPS_APART,
    Comparison,
    candidates,
    carry_over,
    compare,
    drawn_sample,
    read_carried,
    repeat,
    with_fingerprints,
)
from failbench.recording.journal import JournalEntry, archive
from failbench.recording.plan import Setting

STALE = "0123456789abcdef"
"""A fingerprint of digits and letters that no code has."""
RUNS_FILE = Path("runs.parquet")


@pytest.fixture
def folder(campaign_in, tmp_path):
    """A made-up campaign, recorded by code whose fingerprints were other ones."""
    campaign = campaign_in("recorded")
    entries = campaign.record(1, lambda _: None)
    recorded = archive(tmp_path / "telemetry", SETTING, campaign.tables(entries), whole=True)
    stale = recorded.runs.with_columns(pl.lit(STALE).alias("fingerprint"))
    write_parquet(stale, tmp_path / "telemetry" / RUNS_FILE)
    return tmp_path / "telemetry"


@pytest.fixture
def again(campaign_in, folder, executed):
    """The campaign that records a sample again, of which nothing is executed yet."""
    executed.clear()
    return campaign_in("again")


def outdated(campaign, folder, *excepted):
    return candidates(campaign, read_telemetry(folder).runs, excepted, folder / RUNS_FILE)


def repeated(campaign, folder, sample):
    known = read_telemetry(folder)
    return repeat(sample, {SETTING: campaign}, known, 1, lambda *_: None, threading.Event())


def change_loss(folder, run_id, step):
    path = folder / "steps" / f"{SETTING.name}.parquet"
    steps = pl.read_parquet(path)
    here = (pl.col("run_id") == run_id) & (pl.col("step") == step)
    changed = pl.when(here).then(pl.col("loss") + 1e-6).otherwise(pl.col("loss"))
    write_parquet(steps.with_columns(changed.alias("loss").cast(pl.Float32)), path)


def test_runs_of_another_fingerprint_are_candidates_with_the_draw_that_they_were_recorded_with(
    again, folder
):
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
    again, folder
):
    left_out = {each.run_id for each in outdated(again, folder)} - {
        each.run_id for each in outdated(again, folder, SCENARIOS[0])
    }
    other_seed = OUT_OF_MEMORY.replace("-s0", "-s1")
    assert left_out == {OUT_OF_MEMORY, other_seed, f"{REMEDIED}-clipped"}


def test_runs_of_other_versions_are_refused(again, folder):
    again.provenance["torch_version"] = "0.0"
    with pytest.raises(BadInputError, match=r"torch_version: .* and here is 0\.0\."):
        outdated(again, folder)


def test_runs_that_would_now_be_planned_otherwise_are_refused(again, folder):
    def moved(planned):
        return replace(planned, nominal=replace(planned.nominal, warmup_steps=9999))

    again.successes = [*again.successes[:4], *map(moved, again.successes[4:])]
    with pytest.raises(BadInputError, match=r"nominal_warmup_steps: .* would now be planned with"):
        outdated(again, folder)


@pytest.mark.parametrize("size", [1, 4, 9, RUNS, RUNS + 5])
def test_a_sample_is_spread_over_settings_and_kinds_and_drawn_by_the_seed(size, again, folder):
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
    again, folder, made_up_runs
):
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


def test_a_loss_that_differs_is_named_with_its_step(again, folder):
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


def test_a_run_recorded_meanwhile_keeps_the_fingerprint_that_it_was_given(again, folder):
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
def test_a_table_of_other_columns_is_refused_and_no_fingerprint_written(content, again, folder):
    (folder / CARRIED).write_text(content, encoding="utf-8")
    found = outdated(again, folder)
    with pytest.raises(BadInputError, match="Restore it from the last commit"):
        carry_over(folder, found, [], seed=0)
    assert set(read_telemetry(folder).runs["fingerprint"]) == {STALE}


LENGTH = 30
ALLOCATOR = "DefaultCPUAllocator: can't allocate memory: you tried to allocate {} bytes."
NO_MEMORY = {
    "ending": "exception",
    "error_type": "RuntimeError",
    "error_message": ALLOCATOR.format(4096),
    "error_traceback": 'File "loop.py", line 7, in backward',
}
KILLED = {"ending": "signal", "exit_signal": "SIGKILL"}
HUNG = {"ending": "timeout", "exit_signal": "SIGKILL"}
BAD_INDEX = {
    "ending": "exception",
    "error_type": "IndexError",
    "error_message": "index out of range in self",
    "error_traceback": 'File "loop.py", line 7, in forward',
}


def recorded(length=LENGTH, **run):
    """A recording with a loss that becomes NaN, and nothing that varies but time and memory."""
    steps = [
        {
            "step": step,
            "loss": math.nan if step >= 20 else 6.0 - 0.1 * step,
            "learning_rate": 0.001,
            "clip_norm": None,
            "memory_bytes": 1000 + length + step,
            "step_seconds": 0.01 * length,
            "validation_loss": 5.0 if step % 10 == 0 else None,
        }
        for step in range(length)
    ]
    row = {"run_id": "a", "ending": "completed", "steps": length, "wall_seconds": 1.0 * length}
    return JournalEntry({**row, "parameters": 1234, **run}, steps)


def changed(entry, step, **values):
    steps = [dict(row) for row in entry.steps]
    steps[step].update(values)
    return replace(entry, steps=steps)


def test_equal_runs_are_equal_in_all_their_steps_whatever_they_measured_of_the_machine():
    again = changed(recorded(wall_seconds=99.0), 3, step_seconds=7.0, memory_bytes=1)
    again.run.update(capacity_bytes=5, fingerprint="new", outcome=None)
    assert compare(recorded(outcome="diverged"), again) == Comparison(LENGTH, 0, None, None, None)


def test_values_are_equal_as_the_tables_keep_them():
    """What is stored went through single precision, and what is recorded again did not."""
    stored = changed(recorded(), 3, loss=float.fromhex("0x1.99999ap-4"))
    assert compare(stored, changed(recorded(), 3, loss=0.1)).difference is None


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"loss": 5.7000003}, "loss"),
        ({"loss": None}, "loss"),
        ({"loss": math.nan}, "loss"),
        ({"validation_loss": 5.0, "max_length": 3}, "max_length"),
        ({"clip_norm": 1.0, "learning_rate": 0.002}, "learning_rate"),
    ],
)
def test_the_first_column_of_the_first_step_that_differs_is_named(values, column):
    again = changed(changed(recorded(), 9, loss=-1.0), 3, **values)
    assert compare(recorded(), again).difference.startswith(f"{column} at step 3 was ")


def test_nan_is_equal_to_nan_and_to_nothing_else():
    assert compare(recorded(), recorded()).difference is None
    difference = compare(recorded(), changed(recorded(), 25, loss=None)).difference
    assert difference == "loss at step 25 was nan and is now None"


@pytest.mark.parametrize("column", ["error_type", "error_message"])
def test_another_error_is_a_difference_and_another_line_of_its_traceback_is_not(column):
    stored = recorded(**BAD_INDEX)
    moved = recorded(**BAD_INDEX | {"error_traceback": 'File "loop.py", line 9, in forward'})
    assert compare(stored, moved) == Comparison(LENGTH, 0, True, True, None)
    elsewhere = recorded(**BAD_INDEX | {"error_traceback": 'File "step.py", line 7, in forward'})
    assert compare(stored, elsewhere) == Comparison(LENGTH, 0, True, False, None)
    difference = compare(stored, recorded(**BAD_INDEX | {column: "other"})).difference
    assert difference == f"{column} was {BAD_INDEX[column]!r} and is now 'other'"


@pytest.mark.parametrize("end", [NO_MEMORY, KILLED, HUNG])
@pytest.mark.parametrize("apart", [-MOST_STEPS_APART, -1, 0, 1, MOST_STEPS_APART])
def test_a_run_that_memory_or_a_clock_ends_may_be_of_another_length(end, apart):
    stored, again = recorded(**end), recorded(LENGTH + apart, **end)
    last = min(len(stored.steps), len(again.steps)) - 1
    again = changed(again, last, loss=None)  # the last step of the shorter is not compared
    comparison = compare(stored, again)
    assert comparison.difference is None
    assert (comparison.steps_compared, comparison.length_difference) == (last, apart)
    difference = compare(stored, changed(again, last - 1, loss=0.5)).difference
    assert difference.startswith(f"loss at step {last - 1} was ")


@pytest.mark.parametrize("apart", [-1 - MOST_STEPS_APART, 1 + MOST_STEPS_APART])
def test_but_not_of_a_length_that_memory_does_not_explain(apart):
    again = recorded(LENGTH + apart, **NO_MEMORY)
    difference = compare(recorded(**NO_MEMORY), again).difference
    assert difference == f"steps was {LENGTH} and is now {LENGTH + apart}"


@pytest.mark.parametrize("end", [{}, BAD_INDEX, {"ending": "signal", "exit_signal": "SIGSEGV"}])
def test_no_other_run_may_be_of_another_length(end):
    difference = compare(recorded(**end), recorded(LENGTH + 1, **end)).difference
    assert difference == f"steps was {LENGTH} and is now {LENGTH + 1}"


def test_the_allocation_that_fails_first_may_be_another_and_is_reported():
    other = NO_MEMORY | {"error_message": ALLOCATOR.format(8192)}
    assert compare(recorded(**NO_MEMORY), recorded(**other)) == Comparison(
        LENGTH - 1, 0, False, True, None
    )
    difference = compare(recorded(**NO_MEMORY), recorded(**BAD_INDEX)).difference
    assert difference.startswith("error_type was ")
    mismatch = NO_MEMORY | {"error_message": "mat1 and mat2 shapes cannot be multiplied"}
    difference = compare(recorded(**NO_MEMORY), recorded(**mismatch)).difference
    assert difference.startswith("error_message was ")
