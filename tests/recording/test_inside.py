"""Pairs are trained once more with a tool in them, and what it says is kept."""

import json
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from failbench.base.scenarios import read_scenarios
from failbench.recording import inside
from failbench.recording.inside import NOT_FINISHED, InsideRecording, units_of
from failbench.recording.journal import JournalEntry
from failbench.recording.plan import SETTINGS, RecordParams, order_for, plan_pairs
from failbench.recording.sandbox import RunReport

SETTING = SETTINGS["distilbert-adamw"]
SAID = {"columns": 10, "columns_measured": 4, "is_faulty": True, "category": "qkv"}


@pytest.fixture
def campaign(ranges, repository):
    """A campaign of two pairs that are recorded; the failing run of the first one crashed."""
    wanted = {SETTING.name: {"seeds": 1, "successes": 10}}
    params = RecordParams(settings=wanted, hang_seconds=5, wall_limit_seconds=10, nominal=ranges)
    pairs = plan_pairs(SETTING, read_scenarios(repository / "data/scenarios"), params, 4)[:2]

    def entry(planned):
        ending = "exception" if planned is pairs[0].failure else "completed"
        row = {"run_id": planned.run_id, "ending": ending, "fingerprint": "0"}
        steps = [{"step": 0, "loss": 2.0, "memory_bytes": 100}]
        return JournalEntry({**row, "capacity_bytes": 1000}, steps)

    return SimpleNamespace(
        pairs=pairs,
        recorded_pairs=lambda: [(pair, entry(pair.twin), entry(pair.failure)) for pair in pairs],
        order=lambda planned, limit: order_for(planned, SETTING, limit, "corpus.json"),
        patience=(1.0, 2.0),
        stop=threading.Event(),
        outside=SimpleNamespace(preloaded=()),
    )


@pytest.fixture
def trained(monkeypatch):
    """Orders that are trained, each with 30 bytes more than was recorded."""
    orders = []

    def execute(_context, order, _hang, _limit, target):
        orders.append(order)
        Path(target.folder, f"{order.run_id}.json").write_text(json.dumps({"a": 1.0}))
        return RunReport(steps=[{"step": 0, "loss": 2.1, "memory_bytes": 130}])

    monkeypatch.setattr(inside, "execute", execute)
    monkeypatch.setattr(inside, "fork_server", lambda _more: None)
    monkeypatch.setattr(inside, "diagnose", lambda _features: SAID)
    monkeypatch.setattr(inside.default_plus_plus, "installed_version", lambda: "0.4.1")
    return orders


@pytest.fixture
def record(campaign, tmp_path):
    def of(pairs=None):
        recording = InsideRecording(campaign, tmp_path / "answers.parquet")
        table = recording.record(1, lambda _done, _all: None, pairs)
        return {row["run_id"]: row for row in table.to_dicts()}

    return of


def test_a_run_that_crashed_is_last_not_trained_and_has_no_answer(campaign, trained, record):
    crashed, ended = (pair.failure.run_id for pair in campaign.pairs)
    assert [pair.failure.run_id for pair, _, _ in units_of(campaign)] == [ended, crashed]
    row = record()[crashed]
    assert (row["unreadable"], row["is_faulty"], row["ending"]) == (f"{NOT_FINISHED}.", None, None)
    assert crashed not in {order.run_id for order in trained}
    assert len(trained) == 3


def test_a_run_is_trained_again_for_another_version_alone(trained, record, monkeypatch):
    record(1)
    # a failing run may take as much memory more as its twin took
    assert [order.capacity_bytes for order in trained] == [None, 1030]
    rows = record()
    trained.clear()
    assert (record(), trained) == (rows, [])
    monkeypatch.setattr(inside.default_plus_plus, "installed_version", lambda: "0.5.0")
    record()
    assert len(trained) == 3


def test_a_training_that_the_peer_ends_has_its_error(campaign, trained, record, monkeypatch):
    error = {"error_type": "RuntimeError", "error_message": "The sizes differ\nat length"}
    report = RunReport(ending="exception", error=error)
    monkeypatch.setattr(inside, "execute", lambda *_: report)
    row = record(1)[campaign.pairs[1].twin.run_id]
    assert row["unreadable"] == f"{NOT_FINISHED}: RuntimeError: The sizes differ"
    assert row["is_faulty"] is None
