"""Pairs are trained once more with a tool in them, and what it says is kept."""

import json
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from failbench.base.scenarios import read_scenarios
from failbench.neighbours.peers.default_plus_plus import Diagnosis
from failbench.recording import inside
from failbench.recording.inside import NOT_FINISHED, InsideRecording, units_of
from failbench.recording.journal import JournalEntry
from failbench.recording.plan import SETTINGS, RecordParams, plan_pairs
from failbench.recording.sandbox import RunReport

SCENARIOS = Path(__file__).parents[2] / "data/scenarios"
SETTING = SETTINGS["distilbert-adamw"]
SAID = Diagnosis(10, 4, True, 0.9, "qkv", 0.8, "zero_query", 0.7, ("attention",), (1.0,))
STEPS = [{"step": 0, "loss": 2.0, "memory_bytes": 100}]


@pytest.fixture
def campaign(ranges):
    """A campaign of two pairs that are recorded; the failing run of the first one crashed."""
    params = RecordParams(
        settings={SETTING.name: {"seeds": 1, "successes": 10}},
        hang_seconds=5,
        wall_limit_seconds=10,
        nominal=ranges,
    )
    pairs = plan_pairs(SETTING, read_scenarios(SCENARIOS), params, 4)[:2]
    endings = dict(
        zip([pair.failure.run_id for pair in pairs], ["exception", "completed"], strict=True)
    )

    def entry(planned):
        run = {
            "run_id": planned.run_id,
            "ending": endings.get(planned.run_id, "completed"),
            "capacity_bytes": 1000,
            "fingerprint": "0",
        }
        return JournalEntry(run, STEPS)

    recorded = [(pair, entry(pair.twin), entry(pair.failure)) for pair in pairs]
    return SimpleNamespace(
        pairs=pairs,
        recorded_pairs=lambda: recorded,
        setting=SETTING,
        params=params,
        corpus_cache=Path("corpus.json"),
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


def test_pairs_whose_failing_run_came_to_its_end_are_first(campaign):
    crashed, ended = campaign.pairs
    found = [pair.failure.run_id for pair, _, _ in units_of(campaign)]
    assert found == [ended.failure.run_id, crashed.failure.run_id]


def test_a_run_that_crashed_is_not_trained_and_has_no_answer(campaign, trained, record):
    rows, run_id = record(), campaign.pairs[0].failure.run_id
    assert rows[run_id]["unreadable"] == f"{NOT_FINISHED}."
    assert rows[run_id]["is_faulty"] is None
    assert rows[run_id]["ending"] is None
    assert run_id not in {order.run_id for order in trained}
    assert len(trained) == 3


def test_a_failing_run_may_take_as_much_memory_more_as_its_twin_took(campaign, trained, record):
    record(1)
    twin, failure = trained
    assert (twin.capacity_bytes, failure.capacity_bytes) == (None, 1030)


def test_what_is_recorded_is_not_trained_again_until_the_peer_has_another_version(
    trained, record, monkeypatch
):
    rows = record()
    trained.clear()
    assert record() == rows
    assert trained == []
    monkeypatch.setattr(inside.default_plus_plus, "installed_version", lambda: "0.5.0")
    record()
    assert len(trained) == 3


def test_a_training_that_the_peer_ends_has_no_answer_but_its_error(
    campaign, trained, record, monkeypatch
):
    error = {"error_type": "RuntimeError", "error_message": "The sizes differ\nat length"}
    report = RunReport(ending="exception", error=error)
    monkeypatch.setattr(inside, "execute", lambda *_: report)
    row = record(1)[campaign.pairs[1].twin.run_id]
    assert row["unreadable"] == f"{NOT_FINISHED}: RuntimeError: The sizes differ"
    assert row["is_faulty"] is None
