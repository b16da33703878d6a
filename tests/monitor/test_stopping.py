"""A chosen break stops a training before its weights are touched, and nothing else changes."""

import math
from functools import partial

import numpy as np
import pytest
import torch

from failbench.monitor import Monitor, read_history
from failbench.monitor.breaks import breaks
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.invariants import CATALOGUE
from failbench.monitor.signals import SIGNALS
from failbench.monitor.stopping.monitor import StoppingMonitor
from failbench.monitor.stopping.stop import NOT_FINITE, STOPPING, Standing, StopTraining, chosen
from made_up_training import LOOPS, Tiny, adamw, cross_entropy, equal, fused, hooks_of, loader

BREAK = 4


def weights_of(model):
    return [each.detach().clone() for each in model.parameters()]


class Training:
    """A loop in which something goes wrong at one step, with the weights ``before`` its update."""

    def __init__(self, folder, stop_on, hurt, make=adamw, scaled=False, every=10):
        torch.manual_seed(0)
        self.model = Tiny(dropout=0.0)
        (self.optimizer,) = make(self.model)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=8.0, enabled=scaled)
        self.monitor = StoppingMonitor(folder, every=every, stop_on=stop_on)
        self.stopped = None
        self.updates = 0
        self.monitor.watch(self.model, self.optimizer)
        try:
            with self.monitor as monitor:
                for number, batch in enumerate(monitor.data(list(loader())[:8])):
                    self._step(batch, hurt if number == BREAK else None)
        except StopTraining as stopped:
            self.stopped = stopped

    def _step(self, batch, hurt):
        ids, labels = batch[:, :-1], batch[:, 1:]
        if hurt == "labels":
            labels = labels.roll(1, 1)
        logits = self.model(ids) * (math.inf if hurt == "logits" else 1)
        loss = cross_entropy(logits, labels) * (math.nan if hurt == "loss" else 1)
        self.monitor.loss(logits, labels, loss)
        self.scaler.scale(loss).backward()
        if hurt == "gradient":
            self.model.norm.weight.grad[3] = math.inf
        self.before = weights_of(self.model)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.updates += 1
        self.optimizer.zero_grad()


@pytest.mark.parametrize(
    ("hurt", "stop_on", "signal", "value"),
    [
        ("gradient", {"gradients_finite"}, "gradients_nonfinite", "1"),
        ("gradient", ("nonfinite",), "gradients_nonfinite", "1"),
        ("logits", "nonfinite", "logits_nonfinite", "3072"),
        ("loss", {"loss_finite"}, "loss", "nan"),
        ("labels", {"labels_aligned"}, "labels_next", "0"),
        ("labels", {"logic"}, "labels_next", "0"),
    ],
)
def test_weights_stay_as_before_the_step_that_broke(tmp_path, hurt, stop_on, signal, value):
    training = Training(tmp_path / "run", stop_on, hurt)
    stopped = training.stopped
    assert training.updates == stopped.broken.step == BREAK
    assert equal(training.before, weights_of(training.model))
    assert stopped.evidence.startswith(f"Step {BREAK}: {signal} is {value}. What must hold: ")
    assert str(stopped) == f"{stopped.broken.invariant.component}: {stopped.evidence}"
    assert stopped.broken.step in {each.step for each in stopped.diagnosis.breaks}
    end = read_history(tmp_path / "run").end
    assert (end.kind, end.phase, end.step) == ("exception", "step", BREAK)
    assert end.error == "failbench.monitor.stopping.stop.StopTraining"
    assert end.message == str(stopped)
    # Whoever catches it may go on.
    assert not list(hooks_of(training.model))
    training.optimizer.step()
    assert not equal(training.before, weights_of(training.model))


def test_the_measurements_are_those_of_a_monitor_that_stops_nothing(tmp_path):
    # Of the process: another run's tensors may live still.
    exact = [each.name for each in SIGNALS if each.exact and each.name != "live_tensors"]
    with Monitor(tmp_path / "other", every=2) as other:
        LOOPS["adamw"].run(other, steps=6)
    with StoppingMonitor(tmp_path / "run", every=2, stop_on={"logic", "symptom"}) as monitor:
        LOOPS["adamw"].run(monitor, steps=6)
    for name in [*exact, "loss", "gradient_norm", "update_ratio"]:
        left, right = (each.history().series(name) for each in (monitor, other))
        assert [list(part) for part in left] == [list(part) for part in right], name


@pytest.mark.parametrize("make", [adamw, fused])
def test_a_step_that_a_scaler_skips_is_not_stopped(tmp_path, make):
    stop_on = {"nonfinite", "logic"}
    training = Training(tmp_path / "run", stop_on, "gradient", make, scaled=True, every=BREAK)
    assert (training.stopped, training.updates) == (None, 8)
    assert all(torch.isfinite(each).all() for each in training.model.parameters())
    assert training.scaler.get_scale() == 4.0  # it was skipped


def test_what_checks_alone_measure_stops_at_the_next_check(tmp_path):
    def hurt(what, number):
        if (what, number) == ("callback", 4):
            monitor._watcher.model.norm.bias.data[0] = math.nan

    monitor = StoppingMonitor(tmp_path / "run", every=3, stop_on={"weights_finite"})
    with pytest.raises(StopTraining) as stopped:
        LOOPS["adamw"].run(monitor, steps=12, at=hurt)
    assert stopped.value.broken.step == monitor.history().end.step == 6


def test_gradients_of_a_closure_stop_the_next_update(watched):
    def closure(batch):
        optimizer.zero_grad()
        loss = model(batch).mean() * (math.nan if next(numbers) == 2 else 1.0)
        loss.backward()
        return loss

    numbers = iter(range(9))
    stopped = pytest.raises(StopTraining, match="Step 2: gradients_nonfinite")
    stopping = watched(kind=StoppingMonitor, stop_on={"gradients_finite"})
    with stopped, stopping as (monitor, model, optimizer):
        for batch in monitor.data(list(loader())[:6]):
            optimizer.step(partial(closure, batch))
    assert next(numbers) == 3


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
        training = Training(tmp_path / "run", {"nonfinite"}, "gradient")
    assert training.updates == 8


def test_names_stand_for_invariants_that_have_a_bound_and_others_are_refused(tmp_path):
    def ids(invariants):
        return {each.id for each in invariants}

    for name in ("gradients_exploded", "statistic", "rows_differ", ""):
        with pytest.raises(ValueError, match="choose of nonfinite, logic, symptom, token_ids_kno"):
            StoppingMonitor(tmp_path / "run", stop_on={"logic", name})
        assert not (tmp_path / "run").exists()

    bounded = {each.id for each in CATALOGUE if each.bound is not None}
    assert ids(STOPPING) == bounded | {"loss_finite"}
    assert ids(chosen({"logic"}, "full")) == ids(e for e in CATALOGUE if e.kind == "logic")
    assert ids(chosen({"nonfinite"}, "full")) == NOT_FINITE
    assert chosen(None, "full") == chosen((), "full") == ()


def test_a_standing_breaks_at_the_step_at_which_the_series_does():
    rng = np.random.default_rng(0)
    numbers = [0.0, 1.0, 1.0, 2.0, -1.0, 0.5, 1e-7, math.nan, math.inf, -math.inf]
    broke = 0
    for invariant in STOPPING * 40:
        rows = []
        for step in range(6):
            values = {}
            if rng.random() < 0.8:
                values[invariant.signal] = float(rng.choice(numbers))
            if invariant.presumes and rng.random() < 0.8:
                values[invariant.presumes] = float(rng.choice([0.0, 0.0, 1.0]))
            rows.append(Row(step, values))
        history = History("full", 1, {}, {}, tuple(rows), End("completed", "callback", 5))
        standing = Standing(invariant)
        for row in rows:
            if not standing.broken:
                standing = standing.after(row.step, row.values)
        found = [standing.broken] if standing.broken else []
        assert repr(found) == repr(list(breaks(history, [invariant], {}))), (invariant, rows)
        broke += len(found)
    assert broke > 100
