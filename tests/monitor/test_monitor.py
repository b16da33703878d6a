"""A monitor sees what a loop does, and changes nothing of it."""

import subprocess
import sys
import threading
import time
import warnings

import pytest
import torch

from failbench.monitor import Monitor, Vocabulary
from failbench.monitor.signals import LEVELS, SIGNALS, signals_of
from made_up_training import LOOPS, PADDING, TOKENS, UNKNOWN, Tiny, adamw, equal, hooks_of, loader

STEPS = 13
VOCABULARY = Vocabulary(TOKENS, PADDING, UNKNOWN)


@pytest.fixture(scope="module")
def unwatched():
    """What each loop gives without a monitor."""
    results = {}

    def result(name):
        if name not in results:
            results[name] = LOOPS[name].run(steps=STEPS)
        return results[name]

    return result


@pytest.mark.parametrize(
    ("name", "level"),
    [("adamw", "light"), ("adamw", "standard"), *((name, "full") for name in LOOPS)],
)
def test_training_is_equal_bit_for_bit_with_and_without_a_monitor(tmp_path, unwatched, name, level):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no measurement fails
        with Monitor(tmp_path / "run", level, every=5, vocabulary=VOCABULARY) as monitor:
            watched = LOOPS[name].run(monitor, STEPS)
    assert equal(unwatched(name), watched)
    steps = [row.step for row in monitor.history().rows]
    assert steps[-1] == 12, "a step is a step of the optimizer"
    assert monitor.history().end.kind == "completed"


@pytest.mark.parametrize("level", LEVELS)
def test_all_signals_of_a_level_are_measured_or_said_to_be_off(tmp_path, level):
    with Monitor(tmp_path / "run", level, every=5, vocabulary=VOCABULARY) as monitor:
        LOOPS["adamw"].run(monitor, steps=40)
    history = monitor.history()
    measured = {name for row in history.rows for name in row.values}
    wanted = {signal.name for signal in signals_of(level)}
    assert wanted - measured - history.off.keys() == set()
    assert measured <= wanted


def test_hooks_are_gone_after_the_end(tmp_path):
    before = sys.excepthook, threading.excepthook
    model = Tiny()
    optimizer = adamw(model)[0]
    monitor = Monitor(tmp_path / "run", "full", every=1)
    monitor.watch(model, optimizer)
    model(torch.ones(2, 3, dtype=torch.long)).sum().backward()
    optimizer.step()
    assert list(hooks_of(model))
    monitor.close()
    assert not list(hooks_of(model))
    assert (sys.excepthook, threading.excepthook) == before
    model(torch.ones(2, 3, dtype=torch.long))


def test_an_accumulated_step_has_the_passes_of_all_its_batches(tmp_path):
    for name in ("accumulation", "no loader, accumulation"):
        with Monitor(tmp_path / name, every=1) as monitor:
            LOOPS[name].run(monitor, steps=6)
        _, forwards = monitor.history().series("forwards")
        _, backwards = monitor.history().series("backwards")
        assert list(forwards) == list(backwards) == [3] * 6


def test_a_step_that_a_scaler_skips_is_a_step_without_the_optimizer(tmp_path):
    with Monitor(tmp_path / "run", every=1) as monitor:
        torch.manual_seed(0)
        model = Tiny()
        optimizer = adamw(model)[0]
        scaler = torch.amp.GradScaler("cpu")
        monitor.watch(model, optimizer)
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


def test_an_evaluation_after_the_last_batch_of_an_epoch_belongs_to_the_step_before(tmp_path):
    with Monitor(tmp_path / "run", every=1) as monitor:
        model = Tiny()
        optimizer = adamw(model)[0]
        monitor.watch(model, optimizer)
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


def test_a_changed_evaluation_a_graph_and_a_model_in_training_mode_are_seen(tmp_path):
    with Monitor(tmp_path / "run", every=1) as monitor:
        model = Tiny()
        optimizer = adamw(model)[0]
        monitor.watch(model, optimizer)
        for number, batch in enumerate(monitor.data(list(loader())[:4])):
            model(batch).mean().backward()
            optimizer.step()
            with monitor.phase("evaluation"):
                model.train(number == 1)
                with torch.set_grad_enabled(number == 2):
                    model(torch.full((2, 3), 2 + (number == 3)))
                model.train()
    history = monitor.history()
    assert list(history.series("evaluation_training")[1] > 0) == [False, True, False, False]
    assert list(history.series("evaluation_graph")[1]) == [0, 0, 1, 0]
    assert list(history.series("evaluation_changed")[1]) == [0, 0, 0, 1]


def test_what_a_loop_does_not_give_is_named(tmp_path):
    with Monitor(tmp_path / "run", every=1) as monitor:
        LOOPS["nothing given"].run(monitor, steps=4)
    off = monitor.history().off
    assert {s.name for s in SIGNALS if s.needs == "loss" and s.level != "full"} <= off.keys()
    assert {s.name for s in SIGNALS if s.needs == "vocabulary"} <= off.keys()
    assert "monitor.loss" in off["loss"]


def test_a_compiled_model_gets_no_hooks_and_the_log_says_so(tmp_path):
    with Monitor(tmp_path / "run", every=1) as monitor:
        LOOPS["compiled"].run(monitor, steps=4)
    history = monitor.history()
    assert "compiled" in history.off["forwards"]
    assert "compiled" in history.off["activation_rms"]
    assert list(history.series("loss_ratio")[0]) == [0, 1, 2, 3]
    assert list(history.series("backwards")[0]) == []
    assert (history.series("busy_backward")[1] > 0).all()


def test_a_wait_between_checks_is_seen_by_the_next_check(tmp_path):
    def waiting():
        for number, batch in enumerate(list(loader())[:11]):
            if number == 7:
                time.sleep(0.1)
            yield batch

    with Monitor(tmp_path / "run", every=5) as monitor:
        model = Tiny()
        optimizer = adamw(model)[0]
        monitor.watch(model, optimizer)
        for batch in monitor.data(waiting()):
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
            monitor.diagnosis()  # writes the step as it is, and adds it to nothing
    steps, waits = monitor.history().series("blocked_data")
    waited = dict(zip(steps, waits, strict=True))
    assert waited[7] > 0.09, "a step that the log keeps besides has its own"
    assert 0.018 < waited[10] < 0.09, "a check has the mean of the five steps since the one before"
    assert waited[5] < waited[10]


def test_what_is_watched_must_be_a_model_and_its_optimizers_once(tmp_path):
    model = Tiny()
    with Monitor(tmp_path / "run") as monitor:
        with pytest.raises(TypeError, match=r"no torch\.nn\.Module"):
            monitor.watch(model.forward, *adamw(model))
        with pytest.raises(TypeError, match="No optimizer"):
            monitor.watch(model)
        with pytest.raises(TypeError, match="no optimizer"):
            monitor.watch(model, model)
        with pytest.raises(ValueError, match="evaluation"):
            monitor.phase("testing")
        monitor.watch(model, *adamw(model))
        with pytest.raises(RuntimeError, match="another one"):
            monitor.watch(model, *adamw(model))


def test_labels_of_another_shape_turn_off_what_needs_them_alone(tmp_path):
    with Monitor(tmp_path / "run", every=1) as monitor:
        model = Tiny()
        optimizer = adamw(model)[0]
        monitor.watch(model, optimizer)
        with warnings.catch_warnings(record=True) as warned:
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


def test_reading_a_log_needs_no_torch():
    code = (
        "import sys; from failbench.monitor import Vocabulary, read_history; "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
