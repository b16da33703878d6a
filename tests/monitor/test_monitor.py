"""A monitor sees what a loop does, and changes nothing of it."""

import time
import warnings
from functools import cache

import pytest
import torch

from failbench.monitor import Monitor, Vocabulary, memory
from failbench.monitor.signals import LEVELS, SIGNALS, signals_of
from failbench.monitor.stopping.monitor import StoppingMonitor
from failbench.monitor.stopping.stop import choices
from made_up_training import (
    LOOPS,
    PADDING,
    TOKENS,
    UNKNOWN,
    Tiny,
    adamw,
    equal,
    loader,
    needs_bfloat16,
)

VOCABULARY = Vocabulary(TOKENS, PADDING, UNKNOWN)


@cache
def unwatched(name):
    return LOOPS[name].run(steps=13)


@pytest.fixture
def run(tmp_path):
    def history(
        name, steps, level="standard", every=5, vocabulary=VOCABULARY, kind=Monitor, **options
    ):
        with kind(tmp_path / name, level, every, vocabulary, **options) as monitor:
            given = LOOPS[name].run(monitor, steps)
        return monitor.history(), given

    return history


STOPPING = {"kind": StoppingMonitor, "stop_on": choices()}


@pytest.mark.parametrize(
    ("name", "level", "options"),
    [*(("adamw", level, {}) for level in LEVELS), *((name, "full", STOPPING) for name in LOOPS)],
)
def test_training_is_equal_bit_for_bit_with_and_without_a_monitor(run, name, level, options):
    if LOOPS[name].autocast:
        needs_bfloat16()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no measurement fails
        history, trained = run(name, 13, level, **options)
    assert equal(unwatched(name), trained)
    assert history.rows[-1].step == 12, "a step is a step of the optimizer"
    assert history.end.kind == "completed"


@pytest.mark.parametrize("level", LEVELS)
def test_all_signals_of_a_level_are_measured_or_said_to_be_off(run, level):
    history, _ = run("adamw", 40, level)
    measured = {name for row in history.rows for name in row.values}
    wanted = {signal.name for signal in signals_of(level)}
    assert measured <= wanted <= measured | history.off.keys()


def test_healthy_values(run, monkeypatch):
    monkeypatch.setattr(memory.LiveTensors.__init__, "__defaults__", (1e9,))
    history, _ = run("adamw", 40)
    nothing = [f"outside_{name}" for name in ("tokenizer", "token_table", "other_table")]
    nothing += [f"evaluation_{name}" for name in ("changed", "graph", "training")]
    nothing += ["logits_nonfinite", "modules_in_evaluation", "gradients_left"]
    expected = dict.fromkeys(("rows", "evaluation_rows"), 4) | dict.fromkeys(nothing, 0)
    expected |= dict.fromkeys(("labels_next", "forwards", "backwards"), 1)
    for name, healthy in expected.items():
        assert set(history.series(name)[1]) == {healthy}, name
    ratios = history.series("loss_ratio")[1]
    assert len(ratios) > 8
    assert ratios == pytest.approx([1] * len(ratios), rel=1e-4)
    live = [row.values["live_tensors"] for row in history.rows[2:] if "live_tensors" in row.values]
    assert len(live) > 2
    assert len(set(live)) == 1, "what the monitor holds does not grow"


@pytest.mark.parametrize("name", ["accumulation", "no loader, accumulation"])
def test_an_accumulated_step_has_the_passes_of_all_its_batches(run, name):
    history, _ = run(name, 6, every=1)
    assert [*history.series("forwards")[1], *history.series("backwards")[1]] == [3] * 12


def test_a_step_that_a_scaler_skips_is_a_step_without_the_optimizer(watched):
    scaler = torch.amp.GradScaler("cpu")
    with watched() as (monitor, model, optimizer):
        for number, batch in enumerate(monitor.data(list(loader())[:6])):
            optimizer.zero_grad()
            logits = model(batch)
            loss = monitor.loss(logits, batch, logits.mean() * (float("inf") if number == 3 else 1))
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    history = monitor.history()
    assert list(history.series("forwards")[1]) == [1] * 6
    assert list(history.series("busy_step")[0]) == [0, 1, 2, 3, 4, 5]


def test_an_evaluation_after_the_last_batch_of_an_epoch_belongs_to_the_step_before(watched):
    with watched() as (monitor, model, optimizer):
        batches = monitor.data(list(loader())[:3])
        for _ in range(2):
            for batch in batches:
                model(batch).mean().backward()
                optimizer.step()
            with monitor.phase("evaluation"), torch.no_grad():
                model(batch)
    steps, training = monitor.history().series("evaluation_training")
    assert list(steps) == [2, 5]
    assert (training > 0).all()
    assert [row.step for row in monitor.history().rows] == list(range(6))


def test_a_changed_evaluation_a_graph_and_a_model_in_training_mode_are_seen(watched):
    with watched() as (monitor, model, optimizer):
        for number, batch in enumerate(monitor.data(list(loader())[:4])):
            model(batch).mean().backward()
            optimizer.step()
            with monitor.phase("evaluation"):
                model.train(number == 1)
                with torch.set_grad_enabled(number == 2):
                    model(torch.full((2, 3), 2 + (number == 3)))
                model.train()
    history = monitor.history()
    for place, name in enumerate(("training", "graph", "changed"), start=1):
        seen = list(history.series(f"evaluation_{name}")[1] > 0)
        assert seen == [number == place for number in range(4)], name


def test_what_a_loop_does_not_give_is_named(run):
    history, _ = run("nothing given", 4, every=1, vocabulary=None)
    off = history.off
    assert {s.name for s in SIGNALS if s.needs == "loss" and s.level != "full"} <= off.keys()
    assert {s.name for s in SIGNALS if s.needs == "vocabulary"} <= off.keys()
    assert "monitor.loss" in off["loss"]

    # a compiled model gets no hooks, and the log says so
    history, _ = run("compiled", 4, every=1)
    assert "compiled" in history.off["forwards"]
    assert "compiled" in history.off["activation_rms"]
    assert list(history.series("loss_ratio")[0]) == [0, 1, 2, 3]
    assert list(history.series("backwards")[0]) == []
    assert (history.series("busy_backward")[1] > 0).all()


def test_a_wait_between_checks_is_seen_by_the_next_check(watched):
    def waiting():
        for number, batch in enumerate(list(loader())[:11]):
            if number == 7:
                time.sleep(0.1)
            yield batch

    with watched(every=5) as (monitor, model, optimizer):
        for batch in monitor.data(waiting()):
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
            monitor.diagnosis()  # writes the step as it is, and adds it to nothing
    waited = dict(zip(*monitor.history().series("blocked_data"), strict=True))
    assert waited[7] > 0.09, "a step that the log keeps besides has its own"
    assert 0.018 < waited[10] < 0.09, "a check has the mean of the five steps since the one before"
    assert waited[5] < waited[10]


def test_what_is_watched_must_be_a_model_and_its_optimizers_once(tmp_path):
    model = Tiny()
    with Monitor(tmp_path / "run") as monitor:
        for given, words in (
            ((model.forward, *adamw(model)), r"no torch\.nn\.Module"),
            ((model,), "No optimizer"),
            ((model, model), "no optimizer"),
        ):
            with pytest.raises(TypeError, match=words):
                monitor.watch(*given)
        monitor.watch(model, *adamw(model))
        with pytest.raises(RuntimeError, match="another one"):
            monitor.watch(model, *adamw(model))
        with pytest.raises(ValueError, match="evaluation"):
            monitor.phase("testing")


def test_labels_of_another_shape_turn_off_what_needs_them_alone(watched):
    with watched() as (monitor, model, optimizer), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for batch in monitor.data(list(loader())[:3]):
            logits = model(batch)
            monitor.loss(logits, batch[:, :5], logits.mean()).backward()
            optimizer.step()
    assert warned
    assert all("labels" in str(each.message) or "loss" in str(each.message) for each in warned)
    history = monitor.history()
    assert list(history.series("loss")[0]) == [0, 1, 2]
    assert "do not fit" in history.off["loss_ratio"]
