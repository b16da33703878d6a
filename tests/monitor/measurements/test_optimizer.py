"""What is measured of optimizers is what happened in a small training, or what was broken in it."""

import math
import weakref

import pytest
import torch
from torch import nn
from torch.nn import functional

from failbench.monitor.measurements import sample as sample_module
from failbench.monitor.measurements.optimizer import OptimizerMeasurement

OPTIMIZERS = {
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=1e-2, weight_decay=0.1),
    "adamw, fused": lambda parameters: torch.optim.AdamW(parameters, lr=1e-2, fused=True),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-2, amsgrad=True),
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-2, momentum=0.9, nesterov=True),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=1e-2),
}


class Training:
    """Ten steps of a model that is measured, with a check at every third."""

    def __init__(self, make=OPTIMIZERS["adamw"], dtype=torch.float32, every=3):
        torch.manual_seed(0)
        self.model = nn.Sequential(
            nn.Embedding(20, 8), nn.Linear(8, 30), nn.LayerNorm(30), nn.Tanh(), nn.Linear(30, 20)
        ).to(dtype)
        self.optimizer = make(self.model.parameters())
        self.measurement = OptimizerMeasurement(self.model, [self.optimizer])
        self.every, self.number = every, 0
        self.generator = torch.Generator().manual_seed(1)

    def backward(self):
        ids = torch.randint(0, 20, (4, 20), generator=self.generator)
        output = self.model(ids).float().flatten(0, 1)
        functional.cross_entropy(output, ids.flatten().roll(1)).backward()

    def step(self, during=lambda training: training.optimizer.step(), after=lambda training: None):
        check = self.number % self.every == 0
        values = self.measurement.at_backward()
        self.backward()
        values |= self.measurement.before_step(self.optimizer, check)
        during(self)
        values |= self.measurement.after_step(self.optimizer, check)
        self.optimizer.zero_grad()
        after(self)
        self.number += 1
        return values

    def steps(self, count, **parts):
        return [self.step(**parts) for _ in range(count)]


def series(rows, name):
    return [row[name] for row in rows if name in row]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_healthy_training_breaks_nothing(name):
    rows = Training(OPTIMIZERS[name]).steps(10)
    for absent in ("stale_parameters", "hyperparameters_changed", "maximize", "gradients_missing"):
        assert series(rows, absent) == [0.0] * 10
    assert series(rows, "gradients_left") == [0.0] * 9
    assert series(rows, "weights_kept") == [0.0] * 4
    # The check at a step, and the step after it.
    assert series(rows, "weights_moved_outside") == [0.0] * 6
    assert set(series(rows, "state_steps")) == (set() if name == "sgd" else {1.0})
    assert all(error < 1e-4 for error in series(rows, "update_error"))
    assert bool(series(rows, "update_error")) == (name != "rmsprop")
    assert all(0 < ratio < 1 for ratio in series(rows, "update_ratio"))
    assert len(series(rows, "state_scale")) == 3  # not before the first step


def test_measuring_changes_no_bit_and_keeps_no_parameter():
    measured, bare = Training(), Training()
    for row in range(7):
        measured.step()
        bare.backward()
        bare.optimizer.step()
        bare.optimizer.zero_grad()
        for left, right in zip(measured.model.parameters(), bare.model.parameters(), strict=True):
            assert torch.equal(left, right), row
            assert left._version == right._version
    old = weakref.ref(measured.model[1].weight)
    measured.model[1].weight = nn.Parameter(torch.zeros(30, 8))
    measured.optimizer.param_groups.clear()
    measured.optimizer.state.clear()
    assert old() is None


def test_gradients_are_those_of_all_parameters():
    training = Training()
    training.backward()
    model = training.model
    model[1].weight.grad[0, 0] = 0
    model[4].bias.grad = None
    model[2].weight.requires_grad_(False)
    values = training.measurement.before_step(training.optimizer, False)
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    whole = torch.cat([gradient.flatten() for gradient in gradients]).double()
    trainable = sum(each.numel() for each in model.parameters() if each.requires_grad)
    assert values["gradient_norm"] == pytest.approx(float(whole.norm()), rel=1e-6)
    assert values["gradients_zero"] == pytest.approx(float((whole == 0).double().mean()))
    assert values["gradients_zero"] > 0
    assert values["gradients_missing"] == pytest.approx(20 / trainable)
    assert values["gradients_nonfinite"] == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_large_gradients_are_finite_and_infinite_ones_are_not(dtype):
    training = Training(dtype=dtype)
    for parameter in training.model.parameters():
        parameter.grad = torch.full_like(parameter, 3e4 if dtype == torch.float16 else 1e30)
    values = training.measurement.before_step(training.optimizer, False)
    assert values["gradients_nonfinite"] == 0
    assert math.isfinite(values["gradient_norm"])
    training.model[1].weight.grad[3, 3] = math.nan
    training.model[4].bias.grad[5] = math.inf
    values = training.measurement.before_step(training.optimizer, False)
    assert values["gradients_nonfinite"] == 2
    assert not math.isfinite(values["gradient_norm"])


def test_groups_are_measured_over_all_optimizers():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))
    first = torch.optim.AdamW(model[0].parameters(), lr=0.1, weight_decay=0.5)
    second = torch.optim.SGD([{"params": model[1].weight, "lr": 0.2}, {"params": model[1].bias}])
    measurement = OptimizerMeasurement(model, [first, second])
    values = measurement.before_step(first, False)
    assert values["parameter_groups"] == 3
    assert values["optimized_parameters"] == 16 + 25
    assert values["learning_rate"] == 0.2
    assert values["decay_per_step"] == pytest.approx(0.05)
    first.param_groups[0]["lr"] = 0.3
    assert measurement.before_step(first, False)["hyperparameters_changed"] == 0
    first.param_groups[0]["betas"] = (0.8, 0.999)
    second.param_groups[1]["momentum"] = 0.5
    second.param_groups[0]["maximize"] = True
    model[1] = nn.Linear(4, 5)
    values = measurement.before_step(second, False)
    assert values["hyperparameters_changed"] == 2
    assert values["maximize"] == 1
    assert values["stale_parameters"] == 25


def twice(training):
    training.optimizer.step()
    training.optimizer.step()


def more_decay(training):
    group = training.optimizer.param_groups[0]
    group["weight_decay"] *= 2
    training.optimizer.step()
    group["weight_decay"] /= 2


def other_beta(training):
    group = training.optimizer.param_groups[0]
    betas, group["betas"] = group["betas"], (0.5, 0.999)
    training.optimizer.step()
    group["betas"] = betas


@pytest.mark.parametrize("broken", [twice, more_decay, other_beta])
def test_a_broken_step_is_seen_at_the_next_check(broken):
    training = Training()
    training.steps(3)
    values = training.step(during=broken)
    assert values["update_error"] > 5e-3
    assert (values["state_steps"] > 1) == (broken is twice)


@pytest.mark.parametrize("when", [3, 4, 5, 6])
def test_lost_state_is_seen_at_the_next_check(when):
    training = Training()
    training.steps(when)
    training.optimizer.state.clear()
    rows = training.steps(4)
    assert min(series(rows, "state_steps")) < 0.5


def test_parameters_that_a_step_leaves_alone_are_counted():
    def leave(training):
        kept = [training.model[1].weight, training.model[4].bias]
        values = [parameter.detach().clone() for parameter in kept]
        training.optimizer.step()
        for parameter, value in zip(kept, values, strict=True):
            parameter.data.copy_(value)

    for name in OPTIMIZERS:
        assert series(Training(OPTIMIZERS[name]).steps(1, during=leave), "weights_kept") == [2]


def test_weights_that_change_between_steps_are_seen_at_once():
    def clip(training):
        training.model[1].weight.data.mul_(0.5)

    training = Training()
    training.step(after=clip)
    assert training.step()["weights_moved_outside"] == 1
    training.step(after=clip)  # not after a check
    assert training.step()["weights_moved_outside"] == 1  # what was last known
    assert training.step()["weights_moved_outside"] == 0


def test_gradients_that_are_left_are_counted_once_after_a_step():
    training = Training()
    training.backward()
    assert training.measurement.at_backward() == {}
    training.step()
    training.backward()
    assert training.measurement.at_backward()["gradients_left"] == len(
        list(training.model.parameters())
    )
    assert training.measurement.at_backward() == {}
    training.step()
    training.optimizer.zero_grad(set_to_none=False)
    assert training.measurement.at_backward() == {"gradients_left": 0}


def test_a_closure_is_measured_after_the_step():
    training = Training()
    measurement, optimizer = training.measurement, training.optimizer

    def closure():
        optimizer.zero_grad()
        training.backward()

    before = measurement.before_step(optimizer, True, closure=True)
    optimizer.step(closure)
    after = measurement.after_step(optimizer, True, closure=True)
    assert "gradient_norm" not in before
    assert after["gradient_norm"] > 0
    assert "update_error" not in after


def test_large_and_strided_parameters_are_sampled(monkeypatch):
    monkeypatch.setattr(sample_module, "MOST_ELEMENTS", 16)
    training = Training()
    training.model[4].weight.data = training.model[4].weight.data.T.contiguous().T
    rows = training.steps(4)
    assert all(error < 1e-4 for error in series(rows, "update_error"))
    sample = sample_module.Sample([600, 8])
    large, small = torch.arange(600.0).reshape(20, 30), torch.arange(8.0)
    taken = sample.take("now", [large.T.contiguous().T, small]).tolist()
    assert taken == [*range(0, 600, 38), *range(8)]
    assert sample.take("now", [large, small]).data_ptr() == sample.kind("now").data_ptr()


def test_checks_after_the_first_two_allocate_no_memory_for_copies():
    training = Training(every=1)
    training.steps(2)
    update = training.measurement._updates[training.optimizer]
    places = {name: kind.data_ptr() for name, kind in update._sample._kinds.items()}
    training.steps(3)
    assert {name: kind.data_ptr() for name, kind in update._sample._kinds.items()} == places


def test_a_scaled_fused_step_is_measured_unscaled():
    training = Training(OPTIMIZERS["adamw, fused"])
    optimizer = training.optimizer
    training.backward()
    plain = training.measurement.before_step(optimizer, False)["gradient_norm"]
    training.measurement.after_step(optimizer, False)
    for parameter in training.model.parameters():
        parameter.grad *= 1024
    optimizer.grad_scale, optimizer.found_inf = torch.tensor(1024.0), torch.tensor(0.0)
    values = training.measurement.before_step(optimizer, True)
    optimizer.step()
    values |= training.measurement.after_step(optimizer, True)
    assert values["gradient_norm"] == pytest.approx(plain)
    assert values["update_error"] < 1e-4
    optimizer.found_inf = torch.tensor(1.0)
    training.measurement.before_step(optimizer, True)
    optimizer.step()
    assert training.measurement.after_step(optimizer, True) == {}
    optimizer.found_inf = torch.tensor(0.0)
    training.measurement.before_step(optimizer, True)
    optimizer.step()
    assert training.measurement.after_step(optimizer, True)["state_steps"] == 1
