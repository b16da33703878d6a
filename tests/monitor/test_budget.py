"""A monitor with a budget: what takes most is measured less often, and the log says so."""

import math
import re

import pytest
import torch

from failbench.diagnose.readers.records import log_of_history
from failbench.monitor import Monitor, Vocabulary, budget
from failbench.monitor.budget import (
    FIRST,
    FREE,
    PAST,
    SHARE,
    Budget,
    departs,
    longer,
    planned,
    room_for,
)
from failbench.monitor.stopping.monitor import StoppingMonitor
from made_up_training import LOOPS, TOKENS, equal, needs_bfloat16

EVERY = 10
USUAL = {
    **dict.fromkeys(("cheap", "labels", "gradients", "memory", "clock"), 1),
    "update": EVERY,
}


class Loop:
    """A loop of a fake clock, whose measurements take declared seconds where they are due."""

    def __init__(self, share=SHARE, usual=USUAL):
        self.time, self.changes, self.spent = 0.0, [], 0.0
        self.budget = Budget(share, EVERY, usual, lambda: self.time)
        self.usual = usual
        self.taken = []

    def measure(self, name, seconds):
        begun = self.time
        self.time += seconds
        self.spent += seconds
        self.budget.spend(name, begun)

    def run(self, steps, seconds, costs, fixed=0.0):
        for step in range(self.budget._number, self.budget._number + steps):
            self.changes += self.budget.begin(step)
            left = self.budget.left_out(step)
            self.taken.append({name for name in costs if name not in left})
            for name, cost in costs.items():
                if name not in left and step % self.usual[name] == 0:
                    self.measure(name, cost)
            self.budget.timed(lambda: setattr(self, "time", self.time + fixed))()
            self.spent += fixed
            self.time += seconds


def test_intervals_grow_by_divisors_of_the_checks_and_then_double():
    for every, expected in ((10, [1, 2, 5, 10, 20, 40]), (7, [1, 7, 14, 28]), (1, [1, 2, 4])):
        found = [1]
        while len(found) < len(expected):
            found.append(longer(found[-1], every))
        assert found == expected
        assert all(later % each == 0 for each in found[:0] for later in found), "steps are nested"


def test_what_takes_more_is_measured_less_often():
    seconds = {"cheap": 1e-5, "gradients": 1e-3, "update": 8e-3}
    usual = {"cheap": 1, "gradients": 1, "update": 10}
    assert planned(seconds, usual, 1.0, 10) == usual
    assert planned(seconds, usual, 1.4e-3, 10) == {"cheap": 1, "gradients": 2, "update": 10}
    tight = planned(seconds, usual, 1e-4, 10)
    assert tight["cheap"] < tight["gradients"] < tight["update"]
    assert sum(seconds[name] / tight[name] for name in seconds) <= 1e-4
    assert planned(seconds, usual, -1.0, 10)["update"] >= 1024, "there is a last interval"


@pytest.mark.parametrize("seconds", [0.005, 0.02, 0.1, 1.0])
def test_a_loop_takes_its_share_once_the_beginning_is_over(seconds):
    loop = Loop()
    costs = {"cheap": 2e-5, "gradients": 1.5e-3, "update": 9e-3, "memory": 3e-4, "clock": 3e-4}
    loop.run(1000, seconds, costs, fixed=1e-4)
    assert all(taken == set(costs) for taken in loop.taken[:FIRST])
    before = loop.spent
    loop.run(2000, seconds, costs, fixed=1e-4)
    unlimited = 2000 * (2e-5 + 1.5e-3 + 6e-4 + 9e-4 + 1e-4)
    assert loop.spent - before <= min(SHARE * 2000 * seconds, unlimited) * 1.001
    taken = [sum(name in each for each in loop.taken) for name in ("gradients", "cheap")]
    assert taken == sorted(taken)
    assert all(("memory" in taken) == ("clock" in taken) for taken in loop.taken)
    assert bool(loop.changes) == (seconds < 0.1), "what fits is not thinned"
    assert all(change.step > 0 and change.share > 0 for change in loop.changes)


def test_a_short_run_is_measured_whole():
    loop = Loop()
    loop.run(100, 1e-3, {"gradients": FREE / 200})
    assert not loop.changes


def test_what_is_always_done_leaves_a_part_of_the_budget_to_measurements():
    assert room_for(0.05, 0.1, 1e-3) == pytest.approx(4e-3)
    assert room_for(0.05, 0.01, 1e-3) == pytest.approx(0.05 * 0.01 / 4)


def test_no_single_measurement_takes_all_that_is_free():
    loop = Loop()
    loop.run(200, 0.01, {"gradients": FREE / 1000, "update": FREE / 8})
    assert loop.changes[0].measurement == "update"
    assert loop.spent < FREE, "and the others have theirs"


def test_what_passes_with_its_step_is_measured_more_often_at_an_equal_price():
    seconds = {"loss": 1e-3, "labels": 1e-3, "weights": 1e-3}
    found = planned(seconds, dict.fromkeys(seconds, 1), 1e-3, 10)
    assert found["loss"] < found["labels"] < found["weights"]


def test_a_loss_departs_where_it_is_further_from_those_before_than_they_are_apart():
    past = [2.0, 2.5, 2.2]
    assert [departs(value, past) for value in (1.6, 2.9)] == [False, False]
    assert [departs(value, past) for value in (1.4, 3.1, math.nan)] == [True, True, True]


@pytest.fixture
def thinned():
    """A loop that was measured whole for long enough to be thinned."""
    loop = Loop()
    loop.run(1000, 0.005, COSTLY)
    for number in range(PAST):
        assert not loop.budget.notice(2.0 + number % 2 / 10)
    return loop


COSTLY = {"labels": 2e-3, "gradients": 2e-3, "update": 9e-3, "memory": 1e-3}


def test_a_loss_that_departs_is_looked_into_until_after_the_next_check(thinned):
    budget = thinned.budget
    left_out = budget.left_out(budget._number)
    assert {"labels", "memory"} <= left_out
    again = budget.notice(4.0)
    assert {"labels"} <= again <= left_out
    assert "memory" not in again, "a phase that is over is not measured any more"
    thinned.taken.clear()
    thinned.run(EVERY, 0.005, COSTLY)
    assert all(taken == set(COSTLY) for taken in thinned.taken[1:])
    thinned.run(3, 0.005, COSTLY)
    assert thinned.taken[-1] < set(COSTLY)


def test_looking_closer_ends_where_its_time_is_spent_and_comes_back(thinned):
    def looked_into():
        for number in range(PAST):
            thinned.budget.notice(2.0 + number % 2 / 10)
        found = bool(thinned.budget.notice(4.0))
        thinned.run(EVERY + 1, 0.005, COSTLY)
        return found

    found = [looked_into() for _ in range(20)]
    assert found == sorted(found, reverse=True)
    assert {*found} == {True, False}
    thinned.run(20_000, 0.005, COSTLY)
    assert looked_into()


def test_slower_steps_are_measured_more_often_again():
    loop = Loop()
    costs = {"gradients": 2e-3, "update": 9e-3}
    loop.run(1000, 0.005, costs)
    thinned = dict(loop.budget._intervals)
    loop.run(200, 0.5, costs)
    assert loop.budget._intervals["gradients"] == 1 < thinned["gradients"]


def test_one_slow_window_as_of_an_evaluation_changes_nothing():
    loop = Loop()
    costs = {"gradients": 2e-3, "update": 9e-3}
    loop.run(1000, 0.005, costs)
    known = len(loop.changes)
    loop.run(10, 0.5, costs)
    loop.run(100, 0.005, costs)
    assert len(loop.changes) == known


def test_a_share_that_is_none_is_refused(tmp_path):
    for share in (0, -0.1, 1.5):
        with pytest.raises(ValueError, match="no share of time"):
            Monitor(tmp_path / "run", budget=share)


@pytest.fixture
def strict(monkeypatch):
    """Nothing is free, and the budget is so small that all is left out that may be."""
    monkeypatch.setattr(budget, "FREE", 0.0)
    return 1e-9


@pytest.fixture(autouse=True)
def no_recording(monkeypatch):
    monkeypatch.delenv(budget.OFF, raising=False)


@pytest.mark.parametrize("name", LOOPS)
def test_what_is_left_out_changes_neither_the_training_nor_what_is_measured(tmp_path, strict, name):
    if LOOPS[name].autocast:
        needs_bfloat16()
    found = {}
    for share in (None, strict):
        with Monitor(tmp_path / str(share), "full", 5, budget=share) as monitor:
            given = LOOPS[name].run(monitor, 60)
        assert equal(LOOPS[name].run(steps=60), given)
        found[share] = monitor.history()
    whole, thinned = found[None], found[strict]
    assert thinned.thinned
    assert thinned.off == whole.off
    assert [row.step for row in thinned.rows][-5:] == [row.step for row in whole.rows][-5:]
    of_machine = re.compile("memory|busy|blocked|live|bytes|page")
    values = {row.step: row.values for row in whole.rows}
    for row in thinned.rows[:-1]:  # the last one has a batch that no step was made of, too
        compared = {key: each for key, each in row.values.items() if not of_machine.match(key)}
        assert compared == pytest.approx({key: values[row.step][key] for key in compared}, rel=1e-5)


def test_the_log_says_what_is_measured_less_often_and_since_when(tmp_path, strict):
    with Monitor(tmp_path / "run", "standard", 5, budget=strict) as monitor:
        LOOPS["adamw"].run(monitor, 60)
    history = monitor.history()
    update = [change for change in history.thinned if change.measurement == "update"][-1]
    assert FIRST <= update.step < 60 < update.every
    steps, values = history.series("update_error")
    assert steps[-1] < update.step
    steps, values = history.series("state_steps")
    assert set(values) == {1}, "a step that is not measured counts"
    said = log_of_history("monitor", history).sources[0].notes
    wanted = f"update: each {update.every} steps from step {update.step}"
    assert any(wanted in note for note in said)


def test_without_a_budget_and_in_recordings_all_is_measured(tmp_path, strict, monkeypatch):
    def series(name, share):
        with Monitor(tmp_path / name, "full", 5, budget=share) as monitor:
            LOOPS["adamw"].run(monitor, 60)
        history = monitor.history()
        assert not history.thinned
        return history.series("update_error")[0].tolist()

    whole = series("none", None)
    monkeypatch.setenv(budget.OFF, "off")
    assert series("recorded", strict) == whole
    assert set(range(0, 60, 5)) <= set(whole)


def test_what_a_run_may_be_stopped_on_is_measured_as_often_as_ever(tmp_path, strict):
    with StoppingMonitor(
        tmp_path / "run", every=5, stop_on={"gradients_finite"}, budget=strict
    ) as monitor:
        LOOPS["adamw"].run(monitor, 60)
    steps, _ = monitor.history().series("gradients_nonfinite")
    assert {45, 50, 55, 59} <= set(steps.tolist())


def test_the_batch_of_the_step_that_fails_is_measured_after_all(tmp_path, strict):
    model = torch.nn.Sequential(torch.nn.Embedding(TOKENS, 8), torch.nn.Linear(8, TOKENS))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    batches = [torch.randint(TOKENS, (4, 8)) for _ in range(58)]
    batches.append(torch.full((4, 8), TOKENS + 3))
    monitor = Monitor(tmp_path / "run", vocabulary=Vocabulary(TOKENS), budget=strict)

    def train():
        with monitor:
            monitor.watch(model, optimizer)
            for ids in monitor.data(batches):
                model(ids).sum().backward()
                optimizer.step()
                optimizer.zero_grad()

    with pytest.raises(IndexError):
        train()
    row = monitor.history().rows[-1]
    assert row.step == 58
    assert row.values["outside_tokenizer"] == 32


def test_a_loss_that_departs_has_its_labels_measured_in_the_same_step(tmp_path, strict):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Embedding(TOKENS, 8), torch.nn.Linear(8, TOKENS))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    with Monitor(
        tmp_path / "run", every=5, vocabulary=Vocabulary(TOKENS), budget=strict
    ) as monitor:
        monitor.watch(model, optimizer)
        monitor._budget.keep({"loss"})
        for step in monitor.data(range(75)):
            ids = torch.randint(TOKENS, (4, 8))
            logits = model(ids)
            labels = torch.full_like(ids, -100) if step == 73 else ids
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
            monitor.loss(logits, labels, loss).backward()
            optimizer.step()
            optimizer.zero_grad()
    history = monitor.history()
    steps, ignored = history.series("labels_ignored")
    assert {72, 73} & {*steps.tolist()} == {73}
    assert dict(zip(steps.tolist(), ignored, strict=True))[73] == 1
    assert 74 in history.series("gradient_norm")[0]
