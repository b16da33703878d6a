"""Shards part a plan without overlap, and what they recorded is merged as if it had been whole."""

from __future__ import annotations

import gzip
import json
import os
import signal
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from small_campaign import DETECTOR, JOURNAL, PATIENCE, SCENARIOS, SUCCESSES, wait_until

from failbench.commands.shards import INCOMPLETE, merge_shards, report_shard
from failbench.detector import DetectorParams
from failbench.errors import BadInputError
from failbench.recording.archive import archive
from failbench.recording.campaign import Campaign
from failbench.recording.journal import read_entry, write_entry
from failbench.recording.merge import recorded
from failbench.recording.nominal import NominalRanges
from failbench.recording.order import RunOrder
from failbench.recording.plan import RecordParams, Setting
from failbench.recording.sandbox import RunReport
from failbench.recording.shards import WHOLE, Shard
from failbench.scenarios import read_scenarios

SETTING = Setting("transformer", "adamw")
SHARDS = [Shard(number, 3) for number in (3, 1, 2)]
"""In another order than that of the plan."""
DRAWN_AGAIN = "killed_by_operator-transformer-adamw-s1-twin"
REMEDIED = "evaluation_batch_too_large-transformer-adamw-s0"
PAIRS = 2 * len(SCENARIOS)
RUNS = SUCCESSES + 2 * PAIRS + 1


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("units", [0, 1, 7, 31])
def test_shards_have_every_unit_once_and_are_of_equal_size(count, units):
    parts = [Shard(number + 1, count).part(range(units)) for number in range(count)]
    assert sorted(unit for part in parts for unit in part) == list(range(units))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "1/0", "a/b", "1/4/7", "-1/4"])
def test_a_shard_that_is_none_is_refused(text):
    with pytest.raises(BadInputError, match="is no part of a plan") as error:
        Shard.parse(text)
    assert repr(text) in str(error.value)


def test_a_shard_is_read_as_it_is_written():
    assert Shard.parse("2/4") == Shard(2, 4)
    assert str(Shard(2, 4)) == "2/4"


def made_up_report(order: RunOrder, first_draws: dict[str, object]) -> RunReport:
    """A report that depends on the order alone; one twin diverges as it was drawn first."""
    rng = np.random.default_rng(zlib.crc32(f"{order.run_id} {order.seeds}".encode()))
    length = order.nominal.planned_steps if order.declaration is None else 40
    curve = 2 + 4 * np.exp(-np.arange(length) / 20) + rng.normal(0, 0.01, length)
    if order.run_id == DRAWN_AGAIN:
        first = first_draws.setdefault(order.run_id, order.seeds)
        curve += 50.0 * (order.seeds == first)
    steps = [
        {
            "step": step,
            "loss": loss,
            "gradient_norm": 1.0,
            "memory_bytes": int(rng.integers(2**24, 2**25)),
            "step_seconds": 0.01,
            "tokens": 80,
            "validation_loss": loss if step % 10 == 0 else None,
        }
        for step, loss in enumerate(curve.tolist())
    ]
    report = RunReport(steps=steps, wall_seconds=float(rng.uniform(1, 2)))
    if order.declaration is not None:
        report.ending, report.error = "exception", {"error_type": "RuntimeError"}
    return report


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each run was executed, by a function that trains nothing."""
    counts: Counter[str] = Counter()
    first_draws: dict[str, object] = {}

    def execute(_context: object, order: RunOrder, *_: float) -> RunReport:
        counts[order.run_id] += 1
        return made_up_report(order, first_draws)

    monkeypatch.setattr("failbench.recording.campaign.execute", execute)
    monkeypatch.setattr("failbench.recording.campaign.fork_server", lambda *_: None)
    return counts


@pytest.fixture
def campaign_in(
    tmp_path: Path, ranges: NominalRanges, corpus_cache: Path, executed: Counter[str]
) -> Callable[[str], Campaign]:
    """Makes campaigns of two scenarios, two seeds and a remedy, by the name of their journal."""
    params = RecordParams.model_validate(
        {
            "settings": {SETTING.name: {"seeds": 2, "successes": SUCCESSES}},
            "hang_seconds": 1,
            "wall_limit_seconds": 1,
            "nominal": ranges.model_dump(mode="json"),
            "remedies": {"clipped": {"run": REMEDIED, "clip_norm": 0.25}},
        }
    )
    scenarios = tuple(
        scenario for scenario in read_scenarios(Path("data/scenarios")) if scenario.id in SCENARIOS
    )

    def make(name: str) -> Campaign:
        return Campaign(
            SETTING,
            scenarios,
            params,
            DetectorParams.model_validate(DETECTOR),
            tmp_path / name,
            corpus_cache,
        )

    return make


def record_shard(campaign: Campaign, shard: Shard = WHOLE) -> list[str]:
    entries = campaign.record(1, lambda _: None, shard)
    return [entry.run["run_id"] for entry in entries]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_merged_shards_give_the_tables_of_the_whole_campaign(campaign_in, executed, tmp_path):
    whole = campaign_in("whole")
    entries = whole.record(1, lambda _: None)
    archive(tmp_path / "expected", SETTING, whole.tables(entries), whole=True)
    once = Counter(executed)
    assert once[DRAWN_AGAIN] == 2
    assert once.total() == RUNS + 1
    executed.clear()

    for shard in [*SHARDS, *SHARDS]:
        record_shard(campaign_in("sharded"), shard)
    assert executed == once
    assert files_of(tmp_path / "sharded") == files_of(tmp_path / "whole")
    assert merge_shards(campaign_in("sharded"), tmp_path / "merged", whole=True) == 0
    assert executed == once
    assert files_of(tmp_path / "merged") == files_of(tmp_path / "expected")
    assert not (tmp_path / "sharded").exists()


def test_journals_from_other_machines_are_merged_when_they_are_copied_together(
    campaign_in, executed, tmp_path
):
    """Without a shared folder: healthy runs are handed round, and then all journals collected."""
    record_shard(campaign_in("whole"))
    for shard in SHARDS:
        record_shard(campaign_in(f"machine-{shard.number}"), shard)
    folders = [tmp_path / f"machine-{shard.number}" for shard in SHARDS]

    def hand_round() -> None:
        for name, content in {k: v for f in folders for k, v in files_of(f).items()}.items():
            for folder in folders:
                (folder / name).write_bytes(content)

    hand_round()
    for shard in SHARDS:
        record_shard(campaign_in(f"machine-{shard.number}"), shard)
    hand_round()
    for folder in folders:
        assert files_of(folder) == files_of(tmp_path / "whole")


def test_a_shard_started_before_the_others_records_its_healthy_runs_alone(
    campaign_in, executed, capsys
):
    first, *others = SHARDS
    campaign = campaign_in("journal")
    healthy = [run.run_id for run in first.part(campaign.successes)]
    assert record_shard(campaign, first) == healthy
    assert [*executed] == healthy
    assert report_shard(campaign, first) == INCOMPLETE
    awaited = [run.run_id for run in campaign.successes if run.run_id not in healthy]
    printed = capsys.readouterr().out
    assert f"of which {len(awaited)} are missing ({', '.join(awaited)})" in printed

    for shard in others:
        record_shard(campaign_in("journal"), shard)
    record_shard(campaign, first)
    assert report_shard(campaign, first) == 0
    assert capsys.readouterr().out == "transformer-adamw: shard 3/3 is recorded.\n"
    assert report_shard(campaign, others[0]) == INCOMPLETE


def test_what_is_missing_is_named_and_no_table_is_written(campaign_in, executed, tmp_path, capsys):
    record_shard(campaign_in("journal"))
    lost = tmp_path / "journal" / f"{REMEDIED}.json.gz"
    lost.unlink()
    executed.clear()
    assert merge_shards(campaign_in("journal"), tmp_path / "out", whole=True) == INCOMPLETE
    printed = capsys.readouterr().out
    assert printed == f"transformer-adamw: 1 of {RUNS} runs are missing: {REMEDIED}.\n"
    assert not executed
    assert not (tmp_path / "out").exists()


def test_a_failing_run_of_another_draw_than_its_twin_is_missing(campaign_in, executed, tmp_path):
    campaign = campaign_in("journal")
    record_shard(campaign)
    assert recorded(campaign).missing == []
    assert [entry.run["run_id"] for entry in recorded(campaign).entries][:2] == [
        run.run_id for run in campaign.successes[:2]
    ]
    failing = DRAWN_AGAIN.removesuffix("-twin")
    twin = read_entry(tmp_path / "journal", DRAWN_AGAIN)
    assert twin is not None
    assert twin.run["draw"] == 1
    twin.run["draw"] = 2
    write_entry(tmp_path / "journal", twin)
    assert recorded(campaign).missing == [failing]


def test_many_missing_runs_are_counted_and_not_all_named(campaign_in, tmp_path, capsys):
    campaign = campaign_in("journal")
    campaign.successes = [*campaign.successes * 3]
    assert merge_shards(campaign, tmp_path / "out", whole=True) == INCOMPLETE
    assert capsys.readouterr().out.endswith(f" and {3 * SUCCESSES + 2 * PAIRS + 1 - 20} more.\n")


@pytest.mark.system
@pytest.mark.parametrize("warning", [signal.SIGTERM, signal.SIGUSR2])
def test_the_warning_of_a_scheduler_stops_a_shard_and_ends_no_run(make_project, start, warning):
    folder = make_project()
    process = start(folder, "--shard", "1/1")
    wait_until(lambda: bool(list((folder / JOURNAL).glob("*.gz"))))
    os.killpg(process.pid, warning)
    assert process.wait(PATIENCE) == 130
    endings = [
        json.loads(gzip.decompress(path.read_bytes()))["run"]["ending"]
        for path in (folder / JOURNAL).glob("*.gz")
    ]
    assert set(endings) == {"completed"}
    assert len(endings) < SUCCESSES
