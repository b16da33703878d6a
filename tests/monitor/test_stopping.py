"""A chosen break stops a training before its weights are touched, and nothing else changes."""

import math

import numpy as np
import pytest
import torch

from failbench.monitor import read_history
from failbench.monitor.breaks import breaks
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.stopping.monitor import StoppingMonitor
from failbench.monitor.stopping.stop import (
    NOT_FINITE,
    STOPPING,
    Standing,
    StopTraining,
    choices,
    chosen,
)
from made_up_training import LOOPS, Tiny, adamw, cross_entropy, equal, fused, hooks_of, loader

BREAK = 4


def weights_of(model):
    return [each.detach().clone() for each in model.parameters()]


class Training:
    """A loop in which something goes wrong at one step.

    Attributes
    ----------
    before
        Weights before the update that was tried last.
    stopped
        What stopped it.
    """

    def __init__(self, folder, stop_on, hurt, make=adamw, scaled=False, level="standard", every=10):
        torch.manual_seed(0)
        self.model = Tiny(dropout=0.0)
        (self.optimizer,) = make(self.model)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0, enabled=scaled)
        self.monitor = StoppingMonitor(folder, level, every, stop_on=stop_on)
        self.hurt = hurt
        self.stopped = None
        self.updates = 0

    def run(self, steps=8):
        self.monitor.watch(self.model, self.optimizer)
        try:
            with self.monitor as monitor:
                for number, batch in enumerate(monitor.data(list(loader())[:steps])):
                    self._step(number, batch, monitor)
        except StopTraining as stopped:
            self.stopped = stopped
        return self

    def _step(self, number, batch, monitor):
        ids, labels = batch[:, :-1], batch[:, 1:]
        if number == BREAK and self.hurt == "labels":
            labels = labels.roll(1, 1)
        logits = self.model(ids)
        if number == BREAK and self.hurt == "logits":
            logits = logits * math.inf
        loss = cross_entropy(logits, labels)
        if number == BREAK and self.hurt == "loss":
            loss = loss * math.nan
        monitor.loss(logits, labels, loss)
        self.scaler.scale(loss).backward()
        if number == BREAK and self.hurt == "gradient":
            self.model.norm.weight.grad[3] = math.inf
        self.before = weights_of(self.model)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.updates += 1
        self.optimizer.zero_grad()
        if number == BREAK and self.hurt == "evaluation":
            with monitor.phase("evaluation"):
                self.model(ids)


@pytest.mark.parametrize(
    ("hurt", "stop_on", "signal", "value"),
    [
        ("gradient", {"gradients_finite"}, "gradients_nonfinite", "1"),
        ("gradient", ("nonfinite",), "gradients_nonfinite", "1"),
        ("logits", "nonfinite", "logits_nonfinite", "3072"),
        ("loss", {"loss_finite"}, "loss_ratio", "nan"),
        ("labels", {"labels_aligned"}, "labels_next", "0"),
        ("labels", {"logic"}, "labels_next", "0"),
    ],
)
def test_weights_stay_what_they_were_before_the_step_that_broke(
    tmp_path, hurt, stop_on, signal, value
):
    training = Training(tmp_path / "run", stop_on, hurt).run()
    stopped = training.stopped
    assert training.updates == BREAK
    assert equal(training.before, weights_of(training.model))
    assert all(torch.isfinite(each).all() for each in training.model.parameters())
    assert stopped.broken.step == BREAK
    assert stopped.evidence == stopped.diagnosis.evidence
    assert stopped.evidence.startswith(f"Step {BREAK}: {signal} is {value}. What must hold: ")
    assert str(stopped).startswith(f"{stopped.diagnosis.answer}: {stopped.evidence}")
    is_other = stopped.diagnosis.decided_by is not stopped.broken
    assert (f" Stopped by step {BREAK}: loss_finite (nan)." in str(stopped)) == is_other
    assert is_other == (hurt == "loss")  # of which logic knows more


def test_the_exception_is_the_end_in_the_log_and_the_diagnosis_of_the_log_is_the_same(tmp_path):
    training = Training(tmp_path / "run", {"gradients_finite"}, "gradient").run()
    history = read_history(tmp_path / "run")
    assert (history.end.kind, history.end.phase, history.end.step) == ("exception", "step", BREAK)
    assert history.end.error == "failbench.monitor.stopping.stop.StopTraining"
    assert history.end.message == str(training.stopped)
    assert training.monitor.diagnosis().evidence == training.stopped.evidence


def test_a_stop_that_is_caught_leaves_no_hook_and_the_loop_may_go_on(tmp_path):
    training = Training(tmp_path / "run", {"gradients_finite"}, "gradient").run()
    assert not list(hooks_of(training.model))
    training.optimizer.step()
    assert not equal(training.before, weights_of(training.model))


@pytest.mark.parametrize("name", LOOPS)
def test_healthy_training_is_equal_bit_for_bit_and_stops_nowhere(tmp_path, name):
    steps = 25
    with StoppingMonitor(tmp_path / "run", "full", every=3, stop_on=choices()) as monitor:
        result = LOOPS[name].run(monitor, steps=steps)
    assert monitor.history().end.kind == "completed"
    assert equal(LOOPS[name].run(steps=steps), result)


@pytest.mark.parametrize("make", [adamw, fused])
def test_a_step_that_a_scaler_skips_is_not_stopped(tmp_path, make):
    training = Training(
        tmp_path / "run", {"nonfinite", "logic"}, "gradient", make, scaled=True, every=BREAK
    ).run()
    assert training.stopped is None
    assert training.updates == 8
    assert all(torch.isfinite(each).all() for each in training.model.parameters())
    assert training.scaler.get_scale() == 4.0  # it was skipped


def test_what_checks_alone_measure_stops_at_the_next_check(tmp_path):
    def hurt(what, number):
        if (what, number) == ("callback", 4):
            with torch.no_grad():
                monitor._watcher.model.norm.bias[0] = math.nan

    monitor = StoppingMonitor(tmp_path / "run", every=3, stop_on={"weights_finite"})
    with pytest.raises(StopTraining) as stopped:
        LOOPS["adamw"].run(monitor, steps=12, at=hurt)
    assert stopped.value.broken.step == 6
    assert monitor.history().end.step == 6


def test_gradients_of_a_closure_stop_the_next_update(tmp_path):
    torch.manual_seed(0)
    model, numbers = Tiny(), iter(range(9))
    (optimizer,) = adamw(model)

    def closure():
        optimizer.zero_grad()
        loss = model(batch).mean() * (math.nan if next(numbers) == 2 else 1.0)
        loss.backward()
        return loss

    monitor = StoppingMonitor(tmp_path / "run", stop_on={"gradients_finite"})
    monitor.watch(model, optimizer)
    batches = iter(monitor.data(list(loader())[:6]))
    for _ in range(3):
        batch = next(batches)
        optimizer.step(closure)
    batch = next(batches)
    with pytest.raises(StopTraining, match="Step 2: gradients_nonfinite"):
        optimizer.step(closure)


def test_of_several_optimizers_the_first_is_stopped(tmp_path):
    monitor = StoppingMonitor(tmp_path / "run", stop_on={"gradients_finite"})
    before = []

    def hurt(what, number):
        if (what, number) == ("step", BREAK):
            model = monitor._watcher.model
            model.output.weight.grad[0] = math.nan  # of the second
            before.extend(weights_of(model))

    with pytest.raises(StopTraining, match=f"Step {BREAK}: gradients_nonfinite is 1"):
        LOOPS["two optimizers"].run(monitor, at=hurt)
    assert equal(before, weights_of(monitor._watcher.model))


def test_an_error_of_the_stopping_itself_ends_no_run(tmp_path, monkeypatch):
    def fail(*args):
        raise KeyError("a bug")

    monkeypatch.setattr(Standing, "after", fail)
    with pytest.warns(RuntimeWarning, match="Nothing is measured any more"):
        training = Training(tmp_path / "run", {"nonfinite"}, "gradient").run()
    assert training.updates == 8


@pytest.mark.parametrize("name", ["gradients_exploded", "statistic", "rows_differ", ""])
def test_a_name_that_can_stop_nothing_is_refused_with_the_choices(tmp_path, name):
    with pytest.raises(ValueError, match="choose of nonfinite, logic, symptom, token_ids_known"):
        StoppingMonitor(tmp_path / "run", stop_on={"logic", name})
    assert not (tmp_path / "run").exists()


def test_names_stand_for_the_invariants_that_have_a_bound():
    bounded = {each.id for each in CATALOGUE if each.bound is not None}
    assert {each.id for each in STOPPING} == bounded | {"loss_finite"}
    assert {each.id for each in chosen({"logic"}, "full")} == {
        each.id for each in CATALOGUE if each.kind == "logic"
    }
    assert {each.id for each in chosen({"nonfinite"}, "full")} == NOT_FINITE
    assert chosen(None, "full") == chosen((), "full") == ()


def test_a_standing_breaks_at_the_step_at_which_the_series_does():
    generator = np.random.default_rng(0)
    numbers = [0.0, 1.0, 1.0, 2.0, -1.0, 0.5, 1e-7, math.nan, math.inf, -math.inf]
    broke = 0
    for invariant in STOPPING:
        for _ in range(40):
            rows = []
            for step in range(6):
                values = {}
                if generator.random() < 0.8:
                    values[invariant.signal] = float(generator.choice(numbers))
                if invariant.presumes and generator.random() < 0.8:
                    values[invariant.presumes] = float(generator.choice([0.0, 0.0, 1.0]))
                rows.append(Row(step, values))
            end = End("completed", "callback", 5)
            history = History("full", 1, {}, {}, tuple(rows), end)
            expected = breaks(history, [invariant], {})
            standing = Standing(invariant)
            for row in rows:
                standing = standing.after(row.step, row.values)
                if standing.broken:
                    break
            found = standing.broken
            assert (found is not None) == bool(expected), (invariant, rows)
            if found is not None:
                broke += 1
                assert repr(found) == repr(expected[0])
    assert broke > 100
