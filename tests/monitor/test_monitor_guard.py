"""Whatever the monitor itself does wrong, training goes on."""

import errno
import warnings
from contextlib import nullcontext

import pytest
import torch

from failbench.monitor import Monitor, Vocabulary, losses, memory, step
from failbench.monitor.log import LogWriter
from failbench.monitor.signals import MEASUREMENTS, SIGNAL_NAMES
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

STEPS = 12

PLACES = {
    "arguments": "inputs.arguments_of",
    "batch": "inputs.BatchMeasurement.measure",
    "labels": "losses.measure_labels",
    "recomputed loss": "losses.measure_loss",
    "output": "losses.measure_output",
    "logit gradient": "losses.measure_logit_gradient",
    "structure": "watcher.ModelMeasurement.structure",
    "weights": "watcher.ModelMeasurement.weights",
    "indices": "watcher.Tables.measure",
    "activations": "measurements.activations.ActivationMeasurement._see",
    "optimizer": "watcher.OptimizerMeasurement.before_step",
    "gradients left": "watcher.OptimizerMeasurement.at_backward",
    "update": "watcher.OptimizerMeasurement.after_step",
    "memory": "memory.ProcessMemory.highest",
    "live tensors": "memory.gc.get_objects",
    "clock": "clock.Clock.lap",
    "counters": "clock.Counters.read",
    "evaluation": "evaluation.Evaluation.batch",
    "probes": "watcher.Probes.measure",
}
"""What fails for each measurement; the loss, the passes and the ranks are read elsewhere."""


def test_each_signal_belongs_to_one_measurement_and_each_measurement_is_tried():
    names = [name for names in MEASUREMENTS.values() for name in names]
    assert sorted(names) == sorted(SIGNAL_NAMES)
    assert PLACES.keys() | {"loss", "passes", "passed steps", "ranks"} == MEASUREMENTS.keys()


def failing(error):
    def fail(*args, **kwargs):
        raise error

    return fail


@pytest.fixture(scope="module")
def unwatched():
    return LOOPS["adamw"].run(steps=STEPS)


@pytest.fixture
def trained(tmp_path, unwatched):
    def history(level="standard", **given):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with Monitor(tmp_path / "run", level, every=3, **given) as monitor:
                assert equal(unwatched, LOOPS["adamw"].run(monitor, steps=STEPS))
        messages = [str(each.message) for each in warned if each.category is RuntimeWarning]
        return monitor.history(), messages

    return history


@pytest.mark.parametrize("error", [ValueError("the cause"), MemoryError()], ids=type)
@pytest.mark.parametrize("name", PLACES)
def test_a_measurement_that_fails_warns_and_training_goes_on(monkeypatch, trained, name, error):
    with monkeypatch.context() as patch:
        patch.setattr(memory.LiveTensors.__init__, "__defaults__", (1e9,))
        patch.setattr(f"failbench.monitor.{PLACES[name]}", failing(error))
        history, messages = trained("full", vocabulary=Vocabulary(TOKENS, PADDING, UNKNOWN))
    about = [message for message in messages if f"measure {name} any more" in message]
    assert len(about) == 1, messages
    assert type(error).__name__ in about[0]
    others = {"update"} if name == "optimizer" else {"optimizer"} if name == "update" else set()
    assert len(messages) <= 1 + len(others), messages
    assert all(type(error).__name__ in history.off[signal] for signal in MEASUREMENTS[name])
    assert history.end.kind == "completed"


def test_an_error_of_the_monitor_itself_stops_it_and_not_the_training(monkeypatch, trained):
    monkeypatch.setattr(step.Step, "add", failing(KeyError("a bug")))
    history, (message,) = trained()
    assert "Nothing is measured any more" in message
    assert "a bug" in history.off["loss"]


def test_a_full_disk_ends_the_log_with_one_warning(monkeypatch, trained):
    written = LogWriter._line

    def fail(self, content):
        if isinstance(content, list) and content[0] >= 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        written(self, content)

    monkeypatch.setattr(LogWriter, "_line", fail)
    history, (message,) = trained()
    assert "No space left on device" in message
    assert history.series("loss")[0][0] == 0


def test_a_warning_that_is_an_error_ends_no_training_but_a_user_can_interrupt_a_measurement(
    tmp_path, monkeypatch, unwatched, capsys
):
    monkeypatch.setattr(losses, "measure_labels", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Monitor(tmp_path / "other", every=3) as monitor:
            assert equal(unwatched, LOOPS["adamw"].run(monitor, steps=STEPS))
    assert "labels" in capsys.readouterr().err
    monkeypatch.setattr(losses, "measure_labels", failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt), Monitor(tmp_path / "run") as monitor:
        LOOPS["adamw"].run(monitor, steps=STEPS)
    assert monitor.history().end.error == "KeyboardInterrupt"


def test_measurements_leave_the_cache_of_autocast_alone(tmp_path):
    needs_bfloat16()

    class Cast(Tiny):
        def forward(self, ids):
            return super().forward(ids).float()

    def gradients(monitor=None):
        torch.manual_seed(0)
        model = Cast(dropout=0)
        with monitor or nullcontext():
            if monitor is not None:
                monitor.watch(model, *adamw(model))
            with torch.autocast("cpu", torch.bfloat16):
                model(next(iter(loader()))).square().mean().backward()
        return [each.grad for each in model.parameters()]

    assert equal(gradients(), gradients(Monitor(tmp_path / "run", "full", every=1)))
