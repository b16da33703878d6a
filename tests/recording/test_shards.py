"""Shards part a plan without overlap, and what they recorded is merged as if it had been whole."""

import gzip
import json
import os
import signal
from collections import Counter
from itertools import product

import pytest
from made_up_campaign import DRAWN_AGAIN, REMEDIED, RUNS, SETTING
from small_campaign import JOURNAL, PATIENCE, SUCCESSES, files_of, wait_until

from failbench.base.errors import BadInputError
from failbench.cli.record import INCOMPLETE, merge_shards
from failbench.recording.journal import archive, read_entry, write_entry
from failbench.recording.plan import WHOLE, Shard

SHARDS = [Shard(number, 3) for number in (3, 1, 2)]
"""In another order than that of the plan."""


def test_shards_have_every_unit_once_and_are_of_equal_size_and_what_is_none_is_refused():
    for count, units in product([1, 2, 7, 40], [0, 1, 7, 31]):
        parts = [Shard(number + 1, count).part(range(units)) for number in range(count)]
        assert sorted(unit for part in parts for unit in part) == list(range(units))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for text in ("", "1", "0/4", "5/4", "1/0", "a/b", "1/4/7", "-1/4"):
        with pytest.raises(BadInputError, match=f"{text!r} is no part of a plan"):
            Shard.parse(text)


@pytest.fixture
def record(campaign_in):
    return lambda name, shard=WHOLE: campaign_in(name).record(1, lambda _: None, shard)


def test_merged_shards_are_the_whole_campaign(campaign_in, record, made_up_runs, tmp_path):
    tables = campaign_in("whole").tables(record("whole"))
    archive(tmp_path / "expected", SETTING, tables, whole=True)
    once = Counter(made_up_runs.counts)
    assert once[DRAWN_AGAIN] == 2
    assert once.total() == RUNS + 1
    made_up_runs.counts.clear()

    for shard in [*SHARDS, *SHARDS]:
        record("sharded", shard)
    assert made_up_runs.counts == once
    assert files_of(tmp_path / "sharded") == files_of(tmp_path / "whole")
    assert merge_shards(campaign_in("sharded"), tmp_path / "merged", whole=True) == 0
    assert made_up_runs.counts == once
    assert files_of(tmp_path / "merged") == files_of(tmp_path / "expected")
    assert not (tmp_path / "sharded").exists()


def test_journals_from_other_machines_are_merged_when_they_are_copied_together(record, tmp_path):
    """Without a shared folder: healthy runs are handed round, and then all journals collected."""
    record("whole")
    for _ in range(2):
        for shard in SHARDS:
            record(f"machine-{shard.number}", shard)
        folders = [tmp_path / f"machine-{shard.number}" for shard in SHARDS]
        for name, content in {k: v for each in folders for k, v in files_of(each).items()}.items():
            for folder in folders:
                (folder / name).write_bytes(content)
    for folder in folders:
        assert files_of(folder) == files_of(tmp_path / "whole")


def test_what_is_missing_is_named(campaign_in, record, made_up_runs, tmp_path, capsys):
    record("journal")
    (tmp_path / "journal" / f"{REMEDIED}.json.gz").unlink()
    made_up_runs.counts.clear()
    assert merge_shards(campaign_in("journal"), tmp_path / "out", whole=True) == INCOMPLETE
    printed = capsys.readouterr().out
    assert printed == f"transformer-adamw: 1 of {RUNS} runs are missing: {REMEDIED}.\n"
    assert not made_up_runs.counts
    assert not (tmp_path / "out").exists()


def test_a_failing_run_of_another_draw_than_its_twin_is_missing(campaign_in, record, tmp_path):
    record("journal")
    campaign = campaign_in("journal")
    entries, missing = campaign.recorded()
    assert missing == []
    first = [run.run_id for run in campaign.successes[:2]]
    assert [entry.run["run_id"] for entry in entries][:2] == first
    twin = read_entry(tmp_path / "journal", DRAWN_AGAIN)
    assert twin.run["draw"] == 1
    twin.run["draw"] = 2
    write_entry(tmp_path / "journal", twin)
    assert campaign.recorded()[1] == [DRAWN_AGAIN.removesuffix("-twin")]


@pytest.mark.system
@pytest.mark.parametrize("warning", [signal.SIGTERM, signal.SIGUSR2])
def test_the_warning_of_a_scheduler_stops_a_shard_and_ends_no_run(make_project, start, warning):
    folder = make_project()
    process = start(folder, "--shard", "1/1")
    wait_until(lambda: bool(list((folder / JOURNAL).glob("*.gz"))))
    os.killpg(process.pid, warning)
    assert process.wait(PATIENCE) == 130
    entries = [path.read_bytes() for path in (folder / JOURNAL).glob("*.gz")]
    assert {json.loads(gzip.decompress(each))["run"]["ending"] for each in entries} == {"completed"}
    assert len(entries) < SUCCESSES
