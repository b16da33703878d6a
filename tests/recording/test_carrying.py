"""Fingerprints are carried over where a drawn sample is recorded alike, and else they stay."""

import math
import signal
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from made_up_campaign import DRAWN_AGAIN, REMEDIED, RUNS, SETTING
from polars.testing import assert_frame_equal
from small_campaign import CLI, DETECTOR, OUT_OF_MEMORY, SCENARIOS, files_of, run
from small_campaign import RUNS as PLANNED

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.scenarios import read_scenarios
from failbench.base.telemetry import RUN_SCHEMA, Telemetry, read_telemetry
from failbench.cli.main import main
from failbench.cli.terminal import INTERRUPTED
from failbench.recording import carrying
from failbench.recording.campaign import Campaign
from failbench.recording.carrying import MOST_STEPS_APART, Comparison, compare, drawn_sample
from failbench.recording.fingerprint import corpus_cache
from failbench.recording.journal import JournalEntry, archive, steps_of
from failbench.recording.plan import RecordParams, Setting

STALE = "0123456789abcdef"
"""A fingerprint of digits and letters that no code has."""


def archive_stale(folder, runs, steps):
    stale = runs.with_columns(fingerprint=pl.lit(STALE))
    archive(folder, SETTING, Telemetry(stale, steps), whole=True)


@pytest.fixture
def folder(campaign_in, tmp_path):
    """A made-up campaign, recorded by code whose fingerprints were other ones."""
    campaign, folder = campaign_in("recorded"), tmp_path / "telemetry"
    tables = campaign.tables(campaign.record(1, lambda _: None))
    archive_stale(folder, tables.runs, tables.steps)
    return folder


@pytest.fixture
def again(campaign_in, folder, made_up_runs):
    """The campaign that records a sample again, of which nothing is executed yet."""
    made_up_runs.counts.clear()
    return campaign_in("again")


def outdated(campaign, folder, *excepted):
    path = folder / "runs.parquet"
    return carrying.candidates(campaign, read_telemetry(folder).runs, excepted, path)


def repeated(campaign, folder, sample):
    known, stop = read_telemetry(folder), threading.Event()
    return carrying.repeat(sample, {SETTING: campaign}, known, 1, lambda *_: None, stop)


def test_runs_of_another_fingerprint_are_candidates_with_their_draw(again, folder):
    known, found = read_telemetry(folder), outdated(again, folder)
    assert [each.run_id for each in found] == sorted(known.runs["run_id"])
    assert len(found) == RUNS
    drawn = {each.run_id: each.planned.draw for each in found if each.planned.draw}
    assert drawn == {DRAWN_AGAIN: 1, DRAWN_AGAIN.removesuffix("-twin"): 1}
    assert STALE not in {each.fingerprint for each in found}
    current = carrying.with_fingerprints(known.runs, found[3:])
    assert carrying.candidates(again, current, (), folder) == found[:3]
    # An excepted scenario leaves out the runs with its fault, and not their twins.
    still = {each.run_id for each in outdated(again, folder, SCENARIOS[0])}
    left_out = set(known.runs["run_id"]) - still
    other_seed = OUT_OF_MEMORY.replace("-s0", "-s1")
    assert left_out == {OUT_OF_MEMORY, other_seed, f"{REMEDIED}-clipped"}


def test_runs_of_other_versions_or_that_would_be_planned_otherwise_are_refused(again, folder):
    successes, first = again.successes, again.successes[0]
    other = replace(first, nominal=replace(first.nominal, warmup_steps=9999))
    again.successes = [other, *successes[1:]]
    with pytest.raises(BadInputError, match=r"nominal_warmup_steps: .* would now be planned with"):
        outdated(again, folder)
    again.successes = successes
    again.provenance["torch_version"] = "0.0"
    with pytest.raises(BadInputError, match=r"torch_version: .* and here is 0\.0\."):
        outdated(again, folder)


@pytest.mark.parametrize("size", [1, 4, 9, RUNS, RUNS + 5])
def test_a_sample_is_spread_over_settings_and_kinds_and_drawn_by_the_seed(size, again, folder):
    other = [replace(each, setting=Setting("gru", "adamw")) for each in outdated(again, folder)]
    population = [*outdated(again, folder), *other[: RUNS // 2]]
    sample = drawn_sample(population, size, seed=0)
    assert len({(each.setting, each.run_id) for each in sample}) == len(sample) == size
    assert sample == drawn_sample(population[::-1], size, seed=0)
    there = Counter((each.setting, each.planned.kind) for each in population)
    drawn = Counter((each.setting, each.planned.kind) for each in sample)
    fewest = min((drawn[key] for key in there if drawn[key] < there[key]), default=RUNS)
    assert max(drawn.values()) <= fewest + 1


def test_equal_runs_carry_fingerprints_over_and_nothing_else(again, folder, made_up_runs):
    before, steps = read_telemetry(folder), files_of(folder / "steps")
    found = outdated(again, folder)
    sample = drawn_sample(found, 7, seed=3)
    compared = repeated(again, folder, sample)
    assert [comparison.difference for _, comparison in compared] == [None] * 7
    assert made_up_runs.counts == Counter(each.run_id for each in sample)
    for each in sample:
        with_fault = each.planned.kind in ("failure", "remedy")
        limit = each.stored["capacity_bytes"] if with_fault else None
        assert made_up_runs.limits[each.run_id] == limit

    carrying.carry_over(folder, found, compared, seed=3)

    after = read_telemetry(folder)
    assert_frame_equal(after.runs.drop("fingerprint"), before.runs.drop("fingerprint"))
    today = {each.run_id: each.fingerprint for each in found}
    assert dict(after.runs.select("run_id", "fingerprint").rows()) == today
    assert files_of(folder / "steps") == steps
    assert outdated(again, folder) == []
    table = carrying.read_carried(folder / carrying.CARRIED)
    assert table.schema == carrying.CARRIED_SCHEMA
    columns = ("run_id", "fingerprint_before", "fingerprint_after", "steps_compared")
    expected = [(each.run_id, STALE, each.fingerprint, each.stored["steps"]) for each in sample]
    assert table.select(columns).rows() == expected
    assert table.select("candidates", "seed").unique().row(0) == (RUNS, 3)


def test_a_run_recorded_meanwhile_keeps_its_fingerprint_and_all_do_where_a_table_is_refused(
    again, folder
):
    first, *others = outdated(again, folder)
    is_first = pl.col("run_id") == first.run_id
    newer = pl.when(is_first).then(pl.lit("newer")).otherwise("fingerprint")
    runs = read_telemetry(folder).runs.with_columns(fingerprint=newer)
    carried = carrying.with_fingerprints(runs, [first, *others])
    expected = {each.run_id: each.fingerprint for each in others} | {first.run_id: "newer"}
    assert dict(carried.select("run_id", "fingerprint").rows()) == expected
    for content in ("run_id,steps\na,3\n", "", "\x00\xff"):
        (folder / carrying.CARRIED).write_text(content, encoding="utf-8")
        with pytest.raises(BadInputError, match="Restore it from the last commit"):
            carrying.carry_over(folder, [first, *others], [], seed=0)
        assert set(read_telemetry(folder).runs["fingerprint"]) == {STALE}


# Two recordings of a run are compared.

LENGTH = 30
ALLOCATOR = "DefaultCPUAllocator: can't allocate memory: you tried to allocate {} bytes."


def error(error_type, message, function):
    trace = f'File "loop.py", line 7, in {function}'
    named = {"error_type": error_type, "error_message": message, "error_traceback": trace}
    return {"ending": "exception", **named}


NO_MEMORY = error("RuntimeError", ALLOCATOR.format(4096), "backward")
BAD_INDEX = error("IndexError", "index out of range in self", "forward")
KILLED = {"ending": "signal", "exit_signal": "SIGKILL"}
HUNG = {"ending": "timeout", "exit_signal": "SIGKILL"}


def recorded(length=LENGTH, **run):
    usual = {"learning_rate": 0.001, "clip_norm": None, "step_seconds": 0.01 * length}
    steps = [
        {"step": step, "loss": math.nan if step >= 20 else 6.0 - 0.1 * step, **usual}
        | {"memory_bytes": 1000 + length + step, "validation_loss": None if step % 10 else 5.0}
        for step in range(length)
    ]
    row = {"run_id": "a", "ending": "completed", "steps": length, "wall_seconds": 1.0 * length}
    return JournalEntry({**row, "parameters": 1234, **run}, steps)


def changed(entry, step, **values):
    steps = [row | (values if row["step"] == step else {}) for row in entry.steps]
    return replace(entry, steps=steps)


def difference(stored, again):
    return compare(stored, again).difference


def test_equal_runs_are_equal_in_all_their_steps_whatever_they_measured_of_the_machine():
    again = changed(recorded(wall_seconds=99.0), 3, step_seconds=7.0, memory_bytes=1)
    again.run.update(capacity_bytes=5, fingerprint="new", outcome=None)
    assert compare(recorded(outcome="diverged"), again) == Comparison(LENGTH, 0, None, None, None)
    # What is stored went through single precision, and what is recorded again did not.
    stored = changed(recorded(), 3, loss=float.fromhex("0x1.99999ap-4"))
    assert difference(stored, changed(recorded(), 3, loss=0.1)) is None
    # NaN is equal to NaN and to nothing else.
    told = "loss at step 25 was nan and is now None"
    assert difference(recorded(), changed(recorded(), 25, loss=None)) == told


def test_the_first_column_of_the_first_step_that_differs_is_named():
    for values, column in (
        ({"loss": 5.7000003}, "loss"),
        ({"loss": None}, "loss"),
        ({"loss": math.nan}, "loss"),
        ({"validation_loss": 5.0, "max_length": 3}, "max_length"),
        ({"clip_norm": 1.0, "learning_rate": 0.002}, "learning_rate"),
    ):
        again = changed(changed(recorded(), 9, loss=-1.0), 3, **values)
        assert difference(recorded(), again).startswith(f"{column} at step 3 was ")


@pytest.mark.parametrize("column", ["error_type", "error_message"])
def test_another_error_is_a_difference_and_another_line_of_its_traceback_is_not(column):
    stored = recorded(**BAD_INDEX)
    for trace, alike in (("loop.py", True), ("step.py", False)):
        moved = {"error_traceback": f'File "{trace}", line 9, in forward'}
        expected = Comparison(LENGTH, 0, True, alike, None)
        assert compare(stored, recorded(**BAD_INDEX | moved)) == expected
    told = f"{column} was {BAD_INDEX[column]!r} and is now 'other'"
    assert difference(stored, recorded(**BAD_INDEX | {column: "other"})) == told


@pytest.mark.parametrize("end", [NO_MEMORY, KILLED, HUNG])
@pytest.mark.parametrize("apart", [-MOST_STEPS_APART, -1, 0, 1, MOST_STEPS_APART])
def test_a_run_that_memory_or_a_clock_ends_may_be_of_another_length(end, apart):
    stored, again = recorded(**end), recorded(LENGTH + apart, **end)
    last = min(len(stored.steps), len(again.steps)) - 1
    again = changed(again, last, loss=None)  # the last step of the shorter is not compared
    comparison = compare(stored, again)
    assert comparison.difference is None
    assert (comparison.steps_compared, comparison.length_difference) == (last, apart)
    told = difference(stored, changed(again, last - 1, loss=0.5))
    assert told.startswith(f"loss at step {last - 1} was ")


@pytest.mark.parametrize(
    ("end", "apart"),
    [
        (NO_MEMORY, -1 - MOST_STEPS_APART), (NO_MEMORY, 1 + MOST_STEPS_APART), ({}, 1),
        (BAD_INDEX, 1), ({"ending": "signal", "exit_signal": "SIGSEGV"}, 1),
    ],
)  # fmt: skip
def test_but_not_of_a_length_that_memory_does_not_explain(end, apart):
    told = f"steps was {LENGTH} and is now {LENGTH + apart}"
    assert difference(recorded(**end), recorded(LENGTH + apart, **end)) == told


def test_the_allocation_that_fails_first_may_be_another_and_is_reported():
    stored = recorded(**NO_MEMORY)
    other = recorded(**NO_MEMORY | {"error_message": ALLOCATOR.format(8192)})
    assert compare(stored, other) == Comparison(LENGTH - 1, 0, False, True, None)
    assert difference(stored, recorded(**BAD_INDEX)).startswith("error_type was ")
    mismatch = NO_MEMORY | {"error_message": "mat1 and mat2 shapes cannot be multiplied"}
    assert difference(stored, recorded(**mismatch)).startswith("error_message was ")


# The command, on runs that are made up and, with the end-to-end tests, on real ones.

TELEMETRY = Path("data/telemetry")
KILLED = f"{SCENARIOS[1]}-transformer-adamw-s0"
CAPACITY = 32 * 2**20
"""Bytes of memory: enough for a small model, and not for a validation set many times as large."""


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
    steps = pl.concat(map(steps_of, entries)).sort("run_id", "step")
    archive_stale(folder / TELEMETRY, today, steps)

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
    archive_stale(folder / TELEMETRY, tables.runs, tables.steps)
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
