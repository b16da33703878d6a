"""Outputs of modules are measured in one forward pass, and nothing of them is kept."""

import math
import weakref

import pytest
import torch
from torch import nn

from failbench.monitor.measurements.activations import MOST_POSITIONS, ActivationMeasurement


class Recurrent(nn.Module):
    """Modules that put out a tuple, are called twice, put out integers, and are left out."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 6)
        self.dropout = nn.Dropout(0.5)
        self.memory = nn.GRU(6, 6, batch_first=True)
        self.linear = nn.Linear(6, 6)
        self.blocks = nn.Sequential(nn.LayerNorm(6), nn.Identity())
        self.unused = nn.Linear(2, 2)
        self.empty = nn.ModuleList()

    def forward(self, ids):
        hidden, _ = self.memory(self.dropout(self.embedding(ids)))
        self.seen = [hidden, self.linear(hidden)]
        self.seen.append(self.blocks(self.linear(self.seen[1])))
        return self.seen[-1]


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Recurrent()


IDS = torch.arange(21).reshape(3, 7) % 9


def seen(model, inputs=IDS):
    measurement = ActivationMeasurement(model)
    measurement.arm()
    model(inputs)
    measurement.disarm()
    return measurement.measure()


def test_numbers_are_those_of_the_outputs(model):
    values = seen(model)
    outputs = [output.detach().double().reshape(-1, 6) for output in model.seen]
    sizes = [output.square().mean().sqrt() for output in outputs]
    spreads = [output.std(0, correction=0).mean() for output in outputs]
    ratios = [spread / size for spread, size in zip(spreads, sizes, strict=True)]
    assert values["activations_nonfinite"] == 0
    assert values["activation_rms"] == pytest.approx(float(sorted(sizes)[1]), rel=1e-5)
    assert values["activation_spread"] == pytest.approx(float(min(ratios)), rel=1e-5)


def test_large_outputs_are_sampled_at_even_distances(model):
    ids = torch.arange(4 * 300).reshape(4, 300) % 9
    linear = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 5))
    values = seen(linear, ids)
    output = linear(ids).detach().reshape(-1, 5)
    sample = output[:: -(-len(output) // MOST_POSITIONS)]
    assert len(sample) <= MOST_POSITIONS
    assert values["activation_rms"] == pytest.approx(float(sample.square().mean().sqrt()), rel=1e-5)


def test_channels_are_the_units_of_convolutions():
    convolution = nn.Conv2d(2, 3, 1)
    images = torch.randn(2, 2, 4, 5)
    values = seen(convolution, images)
    output = convolution(images).detach().movedim(1, -1).reshape(-1, 3)
    expected = output.std(0, correction=0).mean() / output.square().mean().sqrt()
    assert values["activation_spread"] == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_modules_whose_output_is_no_number_are_counted(model, value):
    def spoil(module, inputs, output):
        output = output.clone()
        output[-1, -1, -1] = value
        return output

    model.linear.register_forward_hook(spoil)
    values = seen(model)
    assert values["activations_nonfinite"] == 2  # and the norm that reads it
    assert math.isfinite(values["activation_rms"])


def test_only_an_armed_pass_is_seen(model):
    measurement = ActivationMeasurement(model)
    model(IDS)
    assert measurement.measure() == {}
    measurement.arm()
    measurement.arm()
    model(IDS)
    first = measurement.measure()
    assert first["activation_rms"] > 0
    measurement.disarm()
    model(IDS)
    assert measurement.measure() == {}
    assert not any(module._forward_hooks for module in model.modules())


def test_outputs_are_neither_kept_nor_changed(model):
    model.dropout.p = 0.0
    model(IDS)
    unmeasured = model.seen
    measurement = ActivationMeasurement(model)
    measurement.arm()
    output = model(IDS)
    measurement.disarm()
    for before, after in zip(unmeasured, model.seen, strict=True):
        assert torch.equal(before, after)
        assert before._version == after._version
    hidden = model.seen[1]
    del after
    reference = weakref.ref(hidden)
    output.sum().backward()
    del output, hidden
    model.seen = []
    assert reference() is None
    assert measurement.measure()["activation_rms"] > 0


def test_outputs_in_half_precision_do_not_overflow():
    linear = nn.Linear(4, 4).to(torch.bfloat16)
    inputs = torch.full((64, 4), 1e20, dtype=torch.bfloat16)
    values = seen(linear, inputs)
    assert values["activations_nonfinite"] == 0
