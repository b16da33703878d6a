"""Optimizers are measured as they stepped, and published formulas make the steps of PyTorch's."""

import math
import weakref
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from failbench.monitor.measurements import sample as sample_module
from failbench.monitor.measurements.optimizer import OptimizerMeasurement
from failbench.monitor.measurements.update_formulas import FORMULAS

OPTIMIZERS = {
    "adamw": partial(torch.optim.AdamW, lr=1e-2, weight_decay=0.1),
    "adamw, fused": partial(torch.optim.AdamW, lr=1e-2, fused=True),
    "adam": partial(torch.optim.Adam, lr=1e-2, amsgrad=True),
    "sgd": partial(torch.optim.SGD, lr=1e-2, momentum=0.9, nesterov=True),
    "rmsprop": partial(torch.optim.RMSprop, lr=1e-2),
}
by_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)


class Training:
    """Ten steps of a model that is measured, with a check at every third."""

    def __init__(self, name="adamw", dtype=torch.float32, every=3):
        torch.manual_seed(0)
        self.model = nn.Sequential(
            nn.Embedding(20, 8), nn.Linear(8, 30), nn.LayerNorm(30), nn.Tanh(), nn.Linear(30, 20)
        ).to(dtype)
        self.optimizer = OPTIMIZERS[name](self.model.parameters())
        self.group = self.optimizer.param_groups[0]
        self.measurement = OptimizerMeasurement(self.model, [self.optimizer])
        self.every, self.number = every, 0
        self.generator = torch.Generator().manual_seed(1)

    def backward(self):
        ids = torch.randint(0, 20, (4, 20), generator=self.generator)
        output = self.model(ids).float().flatten(0, 1)
        functional.cross_entropy(output, ids.flatten().roll(1)).backward()

    def updated(self, check, during=lambda training: training.optimizer.step()):
        values = self.measurement.before_step(self.optimizer, check)
        during(self)
        return values | self.measurement.after_step(self.optimizer, check)

    def step(self, *during, after=lambda training: None):
        values = self.measurement.at_backward()
        self.backward()
        values |= self.updated(self.number % self.every == 0, *during)
        self.optimizer.zero_grad()
        after(self)
        self.number += 1
        return values

    def steps(self, count, *during):
        return [self.step(*during) for _ in range(count)]


def series(rows, name):
    return [row[name] for row in rows if name in row]


@by_optimizer
def test_a_healthy_training_breaks_nothing(name):
    rows = Training(name).steps(10)
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


def test_measuring_keeps_no_parameter():
    measured = Training()
    measured.steps(7)
    old = weakref.ref(measured.model[1].weight)
    measured.model[1].weight = nn.Parameter(torch.zeros(30, 8))
    measured.optimizer.param_groups.clear()
    measured.optimizer.state.clear()
    del measured.group
    assert old() is None


def test_gradients_are_those_of_all_parameters():
    training = Training()
    training.backward()
    model = training.model
    model[1].weight.grad[0, 0] = 0
    model[4].bias.grad = None
    model[2].weight.requires_grad_(False)
    values = training.measurement.before_step(training.optimizer, False)
    gradients = [each.grad.flatten() for each in model.parameters() if each.grad is not None]
    whole = torch.cat(gradients).double()
    trainable = sum(each.numel() for each in model.parameters() if each.requires_grad)
    assert values["gradient_norm"] == pytest.approx(float(whole.norm()), rel=1e-6)
    assert 0 < values["gradients_zero"] == pytest.approx(float((whole == 0).double().mean()))
    assert values["gradients_missing"] == pytest.approx(20 / trainable)
    assert values["gradients_nonfinite"] == 0


@pytest.mark.parametrize(
    ("dtype", "large"), [(torch.float32, 1e30), (torch.bfloat16, 1e30), (torch.float16, 3e4)]
)
def test_large_gradients_are_finite_and_infinite_ones_are_not(dtype, large):
    training = Training(dtype=dtype)
    for parameter in training.model.parameters():
        parameter.grad = torch.full_like(parameter, large)
    for nonfinite in (0, 2):
        values = training.measurement.before_step(training.optimizer, False)
        assert values["gradients_nonfinite"] == nonfinite
        assert math.isfinite(values["gradient_norm"]) == (nonfinite == 0)
        training.model[1].weight.grad[3, 3] = math.nan
        training.model[4].bias.grad[5] = math.inf


def test_groups_are_measured_over_all_optimizers():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5))
    first = torch.optim.AdamW(model[0].parameters(), lr=0.1, weight_decay=0.5)
    second = torch.optim.SGD([{"params": model[1].weight, "lr": 0.2}, {"params": model[1].bias}])
    measurement = OptimizerMeasurement(model, [first, second])

    def measured(**expected):
        values = measurement.before_step(first, False)
        assert {name: values[name] for name in expected} == pytest.approx(expected)

    measured(parameter_groups=3, optimized_parameters=16 + 25)
    measured(learning_rate=0.2, decay_per_step=0.05)
    first.param_groups[0]["lr"] = 0.3
    measured(hyperparameters_changed=0)
    first.param_groups[0]["betas"] = (0.8, 0.999)
    second.param_groups[1]["momentum"] = 0.5
    second.param_groups[0]["maximize"] = True
    model[1] = nn.Linear(4, 5)
    measured(hyperparameters_changed=2, maximize=1, stale_parameters=25)


def twice(training):
    training.optimizer.step()
    training.optimizer.step()


def with_more_decay(training):
    training.group["weight_decay"] = 0.2
    training.optimizer.step()
    training.group["weight_decay"] = 0.1


def test_a_broken_step_and_lost_state_are_seen_at_the_next_check():
    for broken in (twice, with_more_decay):
        training = Training()
        training.steps(3)
        values = training.step(broken)
        assert values["update_error"] > 5e-3
        assert (values["state_steps"] > 1) == (broken is twice)
    for when in (3, 4, 5, 6):
        training = Training()
        training.steps(when)
        training.optimizer.state.clear()
        assert min(series(training.steps(4), "state_steps")) < 0.5


@by_optimizer
def test_parameters_that_a_step_leaves_alone_are_counted_unless_it_has_no_length(name):
    def leave(training):
        kept = [training.model[1].weight, training.model[4].bias]
        values = [parameter.detach().clone() for parameter in kept]
        training.optimizer.step()
        for parameter, value in zip(kept, values, strict=True):
            parameter.data.copy_(value)

    assert Training(name).step(leave)["weights_kept"] == 2
    still = Training(name)
    still.group["lr"] = 0.0
    values = still.step()
    assert (values["weights_kept"], values.get("update_error", 0)) == (0, 0)


def test_weights_that_change_between_steps_are_seen_at_once():
    def halve(training):
        training.model[1].weight.data.mul_(0.5)

    training = Training()
    training.step(after=halve)
    assert training.step()["weights_moved_outside"] == 1
    training.step(after=halve)  # not after a check
    assert training.step()["weights_moved_outside"] == 1  # what was last known
    assert training.step()["weights_moved_outside"] == 0


def test_gradients_that_are_left_are_counted_once_and_those_of_a_closure_after_the_step():
    training = Training()
    measurement, parameters = training.measurement, list(training.model.parameters())
    training.backward()
    assert measurement.at_backward() == {}
    training.step()
    training.backward()
    assert measurement.at_backward()["gradients_left"] == len(parameters)
    assert measurement.at_backward() == {}
    training.step()
    training.optimizer.zero_grad(set_to_none=False)
    assert measurement.at_backward() == {"gradients_left": 0}
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
    assert all(error < 1e-4 for error in series(training.steps(4), "update_error"))
    sample = sample_module.Sample([600, 8])
    large, small = torch.arange(600.0).reshape(20, 30), torch.arange(8.0)
    taken = sample.take("now", [large.T.contiguous().T, small]).tolist()
    assert taken == [*range(0, 600, 38), *range(8)]
    assert sample.take("now", [large, small]).data_ptr() == sample.kind("now").data_ptr()
    # after the first two checks no memory is allocated for copies
    kinds = training.measurement._updates[training.optimizer]._sample._kinds
    places = {name: kind.data_ptr() for name, kind in kinds.items()}
    training.steps(6)
    assert {name: kind.data_ptr() for name, kind in kinds.items()} == places


def test_a_scaled_fused_step_is_measured_unscaled():
    training = Training("adamw, fused")
    optimizer = training.optimizer
    training.backward()
    plain = training.measurement.before_step(optimizer, False)["gradient_norm"]
    training.measurement.after_step(optimizer, False)
    for parameter in training.model.parameters():
        parameter.grad *= 1024
    optimizer.grad_scale, optimizer.found_inf = torch.tensor(1024.0), torch.tensor(0.0)
    values = training.updated(True)
    assert values["gradient_norm"] == pytest.approx(plain)
    assert values["update_error"] < 1e-4
    optimizer.found_inf = torch.tensor(1.0)
    training.measurement.before_step(optimizer, True)
    optimizer.step()
    assert training.measurement.after_step(optimizer, True) == {}
    optimizer.found_inf = torch.tensor(0.0)
    assert training.updated(True)["state_steps"] == 1


ADAM = [
    {}, {"amsgrad": True}, {"maximize": True}, {"weight_decay": 0.1}, {"weight_decay": 0.0},
    {"betas": (0.5, 0.7), "eps": 1e-4}, {"lr": torch.tensor(0.01)},
]  # fmt: skip
SGD = [
    {}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.9, "nesterov": True},
    {"momentum": 0.9, "weight_decay": 0.1}, {"weight_decay": 0.1, "maximize": True},
]  # fmt: skip
KNOWN = {torch.optim.Adam: ADAM, torch.optim.AdamW: ADAM, torch.optim.SGD: SGD}


def error_of_last(optimizer_class, options, steps=12, broken=lambda optimizer: None):
    generator = torch.Generator().manual_seed(1)
    parameter = torch.randn(300, generator=generator).requires_grad_()
    optimizer = optimizer_class([parameter], **{"lr": 0.01, **options})
    formula = FORMULAS[optimizer_class]
    for step in range(1, steps + 1):
        gradient = torch.randn(300, generator=generator)
        parameter.grad = gradient.clone()
        before = parameter.detach().double().clone()
        known = optimizer.state[parameter]
        named = {name: known[name] for name in formula.state if known.get(name) is not None}
        state = {name: each.double() for name, each in named.items()}
        group = dict(optimizer.param_groups[0])
        if step == steps:
            broken(optimizer)
        optimizer.step()
    new = formula.update(before, gradient.double(), state, torch.tensor(float(steps)), group)
    return float((parameter.detach().double() - new).norm() / (new - before).norm())


@pytest.mark.parametrize("steps", [1, 12])
@pytest.mark.parametrize("kind", [{"foreach": False}, {"foreach": True}, {"fused": True}], ids=str)
@pytest.mark.parametrize(
    ("optimizer_class", "options"), [(each, options) for each in KNOWN for options in KNOWN[each]]
)
def test_the_formula_is_that_of_the_optimizer(optimizer_class, options, kind, steps):
    if "foreach" in kind and isinstance(options.get("lr"), torch.Tensor):
        kind = {"foreach": False}  # there is no other on a processor
    assert error_of_last(optimizer_class, {**options, **kind}, steps) < 1e-4


def changed(**values):
    return lambda optimizer: optimizer.param_groups[0].update(values)


@pytest.mark.parametrize(
    ("optimizer_class", "options", "broken"),
    [
        (torch.optim.AdamW, {"weight_decay": 0.1}, changed(weight_decay=0.2)),
        (torch.optim.AdamW, {}, changed(betas=(0.8, 0.999))),
        (torch.optim.AdamW, {}, changed(betas=(0.9, 0.9))),
        (torch.optim.AdamW, {}, changed(maximize=True)),
        (torch.optim.AdamW, {}, lambda optimizer: optimizer.step()),
        (torch.optim.AdamW, {}, lambda optimizer: optimizer.state.clear()),
        (torch.optim.Adam, {"weight_decay": 0.1}, changed(weight_decay=0.2)),
        (torch.optim.SGD, {"weight_decay": 0.1}, changed(weight_decay=0.2)),
        (torch.optim.SGD, {"momentum": 0.9}, changed(momentum=0.5)),
        (torch.optim.SGD, {"momentum": 0.9}, lambda optimizer: optimizer.step()),
    ],
)
def test_a_step_of_another_formula_has_an_error(optimizer_class, options, broken):
    assert error_of_last(optimizer_class, options, broken=broken) > 5e-3
