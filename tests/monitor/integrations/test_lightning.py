"""One line attaches the monitor to a Trainer of Lightning, and training stays as it was."""

import math
import warnings

import lightning
import pytest
import torch
from torch.nn import functional

from failbench.monitor import LightningCallback, Vocabulary
from failbench.monitor.signals import LEVELS, MEASUREMENTS
from failbench.monitor.stopping.stop import StopTraining, choices
from made_up_callbacks import assert_all_is_measured, series
from made_up_models import ROWS, TOKENS, BrokenError, Texts, alarms, break_at, causal_model
from made_up_training import Tiny, hooks_of, two

EVALUATED = Texts(6, seed=1)


class Causal(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = causal_model()

    def training_step(self, batch, batch_idx):
        return self.model(**batch).loss

    validation_step = training_step

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 1e-2)


class Plain(lightning.LightningModule):
    """Is called itself, and gives the monitor what its loss is computed from."""

    def __init__(self, callback=None):
        super().__init__()
        self.tiny = Tiny()
        self.callback = callback

    def forward(self, ids):
        return self.tiny(ids)

    def training_step(self, batch, batch_idx):
        ids = batch["input_ids"]
        logits = self(ids)[:, :-1]
        loss = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        if self.callback is not None and self.callback.monitor is not None:
            self.callback.monitor.loss(logits, ids[:, 1:], loss)
        return {"loss": loss}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1, momentum=0.9)


class Two(Plain):
    automatic_optimization = False

    def training_step(self, batch, batch_idx):
        for optimizer in self.optimizers():
            optimizer.zero_grad()
            loss = super().training_step(batch, batch_idx)["loss"]
            self.manual_backward(loss)
            optimizer.step()

    def configure_optimizers(self):
        return two(self.tiny)


def fit(module, *callbacks, data=None, evaluated=EVALUATED, **settings):
    quiet = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    settings = {"accelerator": "cpu", "max_steps": 8, **dict.fromkeys(quiet, False), **settings}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        trainer = lightning.Trainer(callbacks=list(callbacks), **settings)
        loader = torch.utils.data.DataLoader(data or Texts(64), ROWS)
        trainer.fit(module, loader, torch.utils.data.DataLoader(evaluated, ROWS))
    return trainer


def callback_of(folder, level="standard", every=4, **given):
    return LightningCallback(folder / "run", level, every, Vocabulary(TOKENS), **given)


@pytest.fixture
def callback(tmp_path):
    return callback_of(tmp_path)


@pytest.mark.parametrize(
    ("kind", "level", "stop_on"),
    [
        *((Causal, level, ()) for level in LEVELS),
        (Plain, "full", ()),
        (Two, "full", ()),
        (Causal, "full", choices()),
    ],
)
def test_training_is_equal_bit_for_bit_with_and_without(tmp_path, kind, level, stop_on):
    callback, weights = callback_of(tmp_path, level, every=3, stop_on=stop_on), []
    for callbacks in ((), (callback,)):
        torch.manual_seed(0)
        module = kind()
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="The monitor")
            fit(module, *callbacks, val_check_interval=3)
        weights.append(module.state_dict())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert callback.monitor.history().end.kind == "completed"


@pytest.mark.parametrize("clipped", [None, 0.1])
def test_a_history_has_all_that_is_measured(tmp_path, clipped):
    callback = callback_of(tmp_path, every=1)
    fit(Causal(), callback, val_check_interval=4, gradient_clip_val=clipped)
    assert_all_is_measured(callback, {"gradients_left", *MEASUREMENTS["probes"]})
    if clipped is not None:  # what the update is made of, not what the backward pass gave
        assert series(callback, "gradient_norm")[1] == pytest.approx([clipped] * 8, rel=1e-3)


def test_a_step_that_accumulates_has_all_its_batches_and_their_whole_losses(callback):
    fit(Causal(), callback, data=Texts(48), accumulate_grad_batches=3)
    assert series(callback, "forwards") == (list(range(8)), [3] * 8)
    assert series(callback, "backwards")[1] == [3] * 8
    assert alarms(callback.monitor.history()) == set()  # in a second epoch either
    assert series(callback, "loss")[1][0] == pytest.approx(math.log(TOKENS), rel=0.1)
    assert series(callback, "loss_ratio")[1] == pytest.approx([1] * 8, rel=1e-4)


class Spoilt(Causal):
    """Has a gradient that is no number in its fourth step."""

    def on_before_optimizer_step(self, optimizer):
        if self.global_step == 3:
            self.model.transformer.ln_f.weight.grad[0] = math.nan
            self.before = [each.detach().clone() for each in self.parameters()]


class SpoiltByHand(Two):
    def training_step(self, batch, batch_idx):
        if batch_idx == 3:
            self.tiny.norm.weight.register_hook(lambda gradient: gradient * math.nan)
            self.before = [each.detach().clone() for each in self.parameters()]
        return super().training_step(batch, batch_idx)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Spoilt, "^optimization: Step 3: gradients_nonfinite is 1"),
        (SpoiltByHand, "^optimization: Step 3: gradients_nonfinite"),  # it clears gradients late
    ],
)
def test_a_chosen_break_stops_the_fit_before_weights_are_touched(tmp_path, kind, message):
    module = kind()
    callback = LightningCallback(tmp_path / "run", stop_on={"nonfinite"})
    with pytest.raises(StopTraining, match=message):
        fit(module, callback)
    assert all(map(torch.equal, module.before, module.parameters()))
    end = callback.monitor.history().end
    assert (end.kind, end.phase, end.step) == ("exception", "step", 3)
    assert end.error.endswith("StopTraining")
    assert not list(hooks_of(module))


def test_a_module_gives_logits_and_labels_itself(callback):
    fit(Plain(callback), callback)
    assert series(callback, "forwards") == (list(range(8)), [1] * 8)
    assert series(callback, "loss_ratio")[1] == pytest.approx([1] * 8, rel=1e-4)
    assert series(callback, "labels_next")[1] == [1] * 8
    assert series(callback, "logit_gradient_error")[1] == pytest.approx([0, 0], abs=1e-4)


def test_manual_optimization_with_two_optimizers(callback):
    # Lightning counts the steps of both.
    fit(Two(), callback, max_steps=16)
    assert series(callback, "forwards") == (list(range(8)), [1] * 8)
    assert series(callback, "backwards")[1] == [2] * 8
    assert series(callback, "parameter_groups")[1] == [2] * 8
    assert series(callback, "update_error")[1] == pytest.approx([0, 0], abs=1e-3)


def fails(*_):
    raise BrokenError("it broke")


class Fails(lightning.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if batch_idx == 3:
            fails()


@pytest.mark.parametrize("phase", ["forward", "data", "evaluation", "backward", "callback"])
def test_an_error_is_noted_with_its_phase(callback, phase):
    module, callbacks = Causal(), [callback] + [Fails()] * (phase == "callback")
    given = {"data": Texts(64, fails_at=13 if phase == "data" else None)}
    given["evaluated"] = Texts(6, seed=1, fails_at=5 if phase == "evaluation" else None)
    if phase == "forward":
        break_at(module.model.transformer.h[1], 8)
    elif phase == "backward":
        module.model.lm_head.register_full_backward_hook(fails)
    with pytest.raises((BrokenError, OSError)):
        fit(module, *callbacks, **given, val_check_interval=4, num_sanity_val_steps=0)
    end = callback.monitor.history().end
    assert (end.kind, end.phase) == ("exception", phase)
    assert end.error.endswith(("BrokenError", "OSError"))
    assert not list(hooks_of(module.model.transformer.wte))


def test_all_is_given_back_at_the_end(callback):
    module = Causal()
    trainer = fit(module, callback)
    assert callback.monitor.ended
    assert not list(hooks_of(module))
    assert not trainer.optimizers[0]._optimizer_step_pre_hooks
    assert "start" not in vars(trainer.profiler)
