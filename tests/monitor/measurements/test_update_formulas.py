"""The published formulas make the steps that PyTorch's optimizers make."""

import pytest
import torch

from failbench.monitor.measurements.update_formulas import FORMULAS

ADAM = [
    {},
    {"amsgrad": True},
    {"maximize": True},
    {"weight_decay": 0.1},
    {"weight_decay": 0.0},
    {"betas": (0.5, 0.7), "eps": 1e-4},
    {"lr": torch.tensor(0.01)},
]
CASES = [
    *((torch.optim.Adam, options) for options in ADAM),
    *((torch.optim.AdamW, options) for options in ADAM),
    *(
        (torch.optim.SGD, options)
        for options in (
            {},
            {"momentum": 0.9},
            {"momentum": 0.9, "dampening": 0.3},
            {"momentum": 0.9, "nesterov": True},
            {"momentum": 0.9, "weight_decay": 0.1},
            {"weight_decay": 0.1, "maximize": True},
        )
    ),
]


def error_of_last(optimizer_class, options, kind, steps=12, broken=lambda optimizer: None):
    """Error of the formula in the last of some steps, over the norm of the step."""
    generator = torch.Generator().manual_seed(1)
    parameter = torch.randn(300, generator=generator).requires_grad_()
    flags = {} if kind == "plain" else {kind: True}
    optimizer = optimizer_class([parameter], **{"lr": 0.01, **options}, **flags)
    formula = FORMULAS[optimizer_class]
    for step in range(1, steps + 1):
        gradient = torch.randn(300, generator=generator)
        parameter.grad = gradient.clone()
        before = parameter.detach().double().clone()
        known = optimizer.state[parameter]
        state = {
            name: known[name].double() for name in formula.state if known.get(name) is not None
        }
        group = dict(optimizer.param_groups[0])
        if step == steps:
            broken(optimizer)
        optimizer.step()
    new = formula.update(before, gradient.double(), state, torch.tensor(float(steps)), group)
    return float((parameter.detach().double() - new).norm() / (new - before).norm())


@pytest.mark.parametrize("steps", [1, 12])
@pytest.mark.parametrize("kind", ["plain", "foreach", "fused"])
@pytest.mark.parametrize(("optimizer_class", "options"), CASES)
def test_the_formula_is_that_of_the_optimizer(optimizer_class, options, kind, steps):
    if kind == "plain":
        options = {**options, "foreach": False}
    if kind == "foreach" and isinstance(options.get("lr"), torch.Tensor):
        kind = "plain"  # there is no other on a processor
    assert error_of_last(optimizer_class, options, kind, steps) < 1e-4


def changed(**values):
    def change(optimizer):
        optimizer.param_groups[0].update(values)

    return change


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
    assert error_of_last(optimizer_class, options, "plain", broken=broken) > 5e-3
