"""Shards part a plan without overlap, and what they recorded is merged as if it had been whole."""

import gzip
import json
import os
import signal
from collections import Counter

import pytest
from made_up_campaign import DRAWN_AGAIN, REMEDIED, RUNS, SETTING
from small_campaign import JOURNAL, PATIENCE, SUCCESSES, wait_until

from failbench.base.errors import BadInputError
from failbench.cli.record import INCOMPLETE, merge_shards
from failbench.recording.journal import archive, read_entry, write_entry
from failbench.recording.plan import WHOLE, Shard

SHARDS = [Shard(number, 3) for number in (3, 1, 2)]
"""In another order than that of the plan."""


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


def record_shard(campaign, shard=WHOLE):
    entries = campaign.record(1, lambda _: None, shard)
    return [entry.run["run_id"] for entry in entries]


def files_of(folder):
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
    entries, missing = campaign.recorded()
    assert missing == []
    assert [entry.run["run_id"] for entry in entries][:2] == [
        run.run_id for run in campaign.successes[:2]
    ]
    failing = DRAWN_AGAIN.removesuffix("-twin")
    twin = read_entry(tmp_path / "journal", DRAWN_AGAIN)
    assert twin is not None
    assert twin.run["draw"] == 1
    twin.run["draw"] = 2
    write_entry(tmp_path / "journal", twin)
    assert campaign.recorded()[1] == [failing]


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
