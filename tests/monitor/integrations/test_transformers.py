"""One line attaches the monitor to a Trainer of Transformers, and training stays as it was."""

import math

import pytest
import torch
from transformers import Trainer, TrainerCallback, TrainingArguments

from failbench.monitor import TransformersCallback, Vocabulary, read_history
from failbench.monitor.integrations.callback import rewire
from failbench.monitor.signals import LEVELS
from failbench.monitor.stopping.stop import StopTraining, choices
from made_up_callbacks import assert_all_is_measured, series
from made_up_models import ROWS, TOKENS, BrokenError, Texts, alarms, break_at, causal_model
from made_up_training import hooks_of


def trainer_of(folder, *callbacks, model=None, data=None, **settings):
    arguments = TrainingArguments(
        str(folder / "trainer"), max_steps=8, per_device_train_batch_size=ROWS,
        per_device_eval_batch_size=ROWS, save_strategy="no", report_to=[], use_cpu=True,
        disable_tqdm=True, **{"logging_steps": 2, **settings},
    )  # fmt: skip
    return Trainer(
        model or causal_model(), arguments, train_dataset=data or Texts(64),
        eval_dataset=Texts(6, seed=1), callbacks=list(callbacks),
    )  # fmt: skip


EVALUATED = {"eval_strategy": "steps", "eval_steps": 4}


def callback_of(folder, level="standard", every=4, **given):
    return TransformersCallback(folder / "run", level, every, Vocabulary(TOKENS), **given)


@pytest.fixture
def callback(tmp_path):
    return callback_of(tmp_path)


def trained(folder, *callbacks):
    trainer = trainer_of(folder, *callbacks, **EVALUATED, gradient_accumulation_steps=2)
    trainer.train()
    keys = ("loss", "grad_norm", "eval_loss")
    logs = [[log.get(key) for key in keys] for log in trainer.state.log_history]
    return trainer.model.state_dict(), logs


@pytest.fixture(scope="module")
def unwatched(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("unwatched"))


@pytest.mark.parametrize(
    ("level", "stop_on"), [*((level, ()) for level in LEVELS), ("full", choices())]
)
def test_training_is_equal_bit_for_bit_with_and_without(tmp_path, unwatched, level, stop_on):
    callback = callback_of(tmp_path, level, stop_on=stop_on)
    weights, logs = trained(tmp_path, callback)
    assert all(torch.equal(unwatched[0][name], weights[name]) for name in weights)
    assert unwatched[1] == logs
    assert callback.monitor.history().end.kind == "completed"


def test_a_history_has_all_that_is_measured(tmp_path):
    callback = callback_of(tmp_path, every=1)
    trainer_of(tmp_path, callback, **EVALUATED).train()
    assert_all_is_measured(callback)
    assert callback.monitor.folder == tmp_path / "run"


def test_a_step_that_accumulates_has_all_its_batches_and_the_mean_loss(tmp_path, callback):
    trainer = trainer_of(tmp_path, callback, data=Texts(48), gradient_accumulation_steps=3)
    trainer.train()
    assert series(callback, "forwards") == (list(range(8)), [3] * 8)
    assert series(callback, "backwards")[1] == [3] * 8
    assert alarms(callback.monitor.history()) == set()  # in a second epoch either
    # The model divides by the labels of all three batches: its losses are thirds of the mean.
    assert series(callback, "loss_ratio")[1] == pytest.approx([1] * 8, rel=1e-4)
    losses = series(callback, "loss")[1]
    assert min(losses) > 0.9 * math.log(TOKENS)
    logged = [log["loss"] for log in trainer.state.log_history if "loss" in log]
    assert [sum(losses[i : i + 2]) / 2 for i in range(0, 8, 2)] == pytest.approx(logged, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "steps"), [({}, [3, 7]), ({"eval_on_start": True}, [0, 3, 7])], ids=str
)
def test_evaluations_of_epochs_and_before_training_are_seen(tmp_path, callback, settings, steps):
    settings |= {"eval_strategy": "epoch", "logging_strategy": "epoch"}
    trainer_of(tmp_path, callback, data=Texts(16), **settings).train()
    assert series(callback, "evaluation_rows")[0] == steps
    assert set(series(callback, "evaluation_changed")[1]) == {0}
    assert series(callback, "forwards")[1] == [1] * 8


class At(TrainerCallback):
    def __init__(self, event, act):
        setattr(self, event, self.event)
        self.act = act

    def event(self, args, state, control, **kwargs):
        if state.global_step == 4:
            self.act()


def test_a_loss_that_is_no_number_is_seen_though_the_trainer_logs_another(tmp_path, callback):
    model = causal_model()
    weight = model.transformer.ln_f.weight
    poison = At("on_step_begin", lambda: weight.data.fill_(float("nan")))
    trainer = trainer_of(tmp_path, callback, poison, model=model)
    trainer.train()
    steps, losses = series(callback, "loss")
    assert steps == list(range(8))
    assert list(map(math.isnan, losses)) == [False] * 4 + [True] * 4
    assert not any(math.isnan(log.get("loss", 0)) for log in trainer.state.log_history)


def it_breaks():
    raise BrokenError("it broke")


@pytest.mark.parametrize(
    ("phase", "error"),
    [("forward", "BrokenError"), ("data", "OSError"), ("evaluation", ""), ("callback", "")],
)
def test_an_error_that_is_caught_is_noted_with_its_phase(tmp_path, callback, phase, error):
    model, data, callbacks = causal_model(), Texts(64), [callback]
    if phase == "callback":
        callbacks.append(At("on_step_end", it_breaks))
    trainer = trainer_of(tmp_path, *callbacks, model=model, data=data, **EVALUATED)
    if phase == "forward":
        break_at(model.transformer.h[1], 2)
    elif phase != "callback":
        {"data": data, "evaluation": trainer.eval_dataset}[phase].fails_at = 5
    with pytest.raises((BrokenError, OSError)):
        trainer.train()
    assert callback.monitor.history().end.kind == "running"
    callback._leave()  # as at the end of the process
    end = callback.monitor.history().end
    assert (end.kind, end.phase) == ("exception", phase)
    assert end.error.endswith(error)
    assert "caught" in end.message or error
    assert not [hook for hook in hooks_of(model) if "failbench" in type(hook).__module__]


def test_a_chosen_break_stops_the_training_before_weights_are_touched(tmp_path):
    model, seen = causal_model(), []

    def spoil():
        model.transformer.ln_f.weight.grad[0] = float("nan")
        seen.extend(each.detach().clone() for each in model.parameters())

    callback = TransformersCallback(tmp_path / "run", stop_on={"nonfinite"})
    trainer = trainer_of(tmp_path, callback, At("on_pre_optimizer_step", spoil), model=model)
    with pytest.raises(StopTraining, match=r"^optimization: Step 4: gradients_nonfinite is 1"):
        trainer.train()
    assert all(map(torch.equal, seen, model.parameters()))
    assert trainer.state.global_step == 4
    end = read_history(tmp_path / "run").end
    assert (end.kind, end.phase, end.step) == ("exception", "step", 4)
    assert end.error.endswith("StopTraining")
    callback._leave()  # as at the end of the process
    assert not list(hooks_of(model))


def test_all_is_given_back_at_the_end(tmp_path, callback):
    trainer = trainer_of(tmp_path, callback)
    trainer.train()
    assert callback.monitor.ended
    assert not list(hooks_of(trainer.model))
    loader = trainer.callback_handler.train_dataloader
    assert type(loader).__mro__[1].__module__.startswith("accelerate")
    assert len(list(loader)) == 16
    assert callback.monitor.history().rows[-1].step == 7


class Slotted:
    __slots__ = ()

    def __iter__(self):
        return iter((1, 2))


def test_a_loader_is_iterated_over_by_a_function_and_is_itself_again_or_stays_as_it_is():
    loader = torch.utils.data.DataLoader([1, 2, 3])
    undo = rewire(loader, lambda: iter("ab"))
    assert list(loader) == ["a", "b"]
    assert isinstance(loader, torch.utils.data.DataLoader)
    assert (len(loader), type(loader).__name__) == (3, "DataLoader")
    undo()
    assert type(loader) is torch.utils.data.DataLoader
    assert len(list(loader)) == 3
    for of_its_own in ([1, 2], (each for each in (1, 2)), Slotted()):
        assert rewire(of_its_own, lambda: iter("ab")) is None
        assert list(of_its_own) == [1, 2]
