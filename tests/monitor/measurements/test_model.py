"""A model and the outputs of its modules are measured as a walk through them says."""

import math
import weakref

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from failbench.monitor.measurements.activations import MOST_POSITIONS, ActivationMeasurement
from failbench.monitor.measurements.model import ModelMeasurement, measure_indices


def small_model():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Embedding(11, 6), nn.Dropout(0.1), nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 6)
    )


model = pytest.fixture(small_model, name="model")


def naive(model):
    parameters, modules = list(model.parameters()), list(model.modules())
    named = [each for _, each in model.named_parameters(remove_duplicate=False)]
    storages = {each.untyped_storage().data_ptr() for each in named}
    dropouts = [each.p for each in modules if isinstance(each, nn.Dropout) and each.training]
    return {
        "parameters": sum(each.numel() for each in parameters),
        "trainable_parameters": sum(each.numel() for each in parameters if each.requires_grad),
        "parameter_types": len({each.dtype for each in parameters if each.is_floating_point()}),
        "shared_parameters": len(named) - len(storages),
        "modules_in_evaluation": sum(not each.training for each in modules),
        "dropout": max(dropouts, default=0.0),
    }


def tie(model):
    model[4].bias = nn.Parameter(torch.zeros(6))
    model.append(nn.Linear(6, 11))
    model[5].weight = model[0].weight


def share_storage(model):
    model[4].bias.data = model[2].weight.data[0]


def replace_parameter(model):
    model[4].weight = nn.Parameter(torch.zeros(6, 9))


CHANGES = {
    "a parameter is frozen": lambda model: model[2].weight.requires_grad_(False),
    "weights are tied": tie,
    "a storage is shared": share_storage,
    "a module has a second name": lambda model: model.append(model[2]),
    "a module is another one": lambda model: model.__setitem__(2, nn.Linear(6, 8, bias=False)),
    "a parameter is another one": replace_parameter,
    "a module is gone": lambda model: model.__delitem__(1),
    "a module is in evaluation": lambda model: model[1].eval(),
    "dropout is raised": lambda model: setattr(model[1], "p", 0.7),
    "a module has another type": lambda model: model[3].to(torch.bfloat16),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_the_model_is_seen_at_the_next_step(model, change):
    measurement = ModelMeasurement(model)
    before = measurement.structure()
    assert before == naive(model)
    change(model)
    assert measurement.structure() == naive(model) != before


def test_names_of_nothing_change_nothing_and_shared_weights_and_storages_count_alike(model):
    measurement = ModelMeasurement(model)
    before = measurement.structure()
    model[2].register_parameter("gate", None)
    model.register_module("head", None)
    assert measurement.structure() == naive(model) == before
    del model.head
    for number, change in enumerate((tie, share_storage), start=1):
        change(model)
        assert ModelMeasurement(model).structure()["shared_parameters"] == number


def test_dropout_of_attention_counts_and_a_transposed_map_gains_by_its_own_inputs():
    class Conv1D(nn.Module):
        nf = 4

        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(9, 4))

    attention = nn.MultiheadAttention(8, 2, dropout=0.3)
    assert ModelMeasurement(attention).structure()["dropout"] == 0.3
    assert ModelMeasurement(attention.eval()).structure()["dropout"] == 0
    assert ModelMeasurement(Conv1D()).weights()["weight_gain"] == pytest.approx(3)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(-3, 3), st.floats(0.01, 10))
def test_spread_and_gain_are_those_of_the_matrices(seed, shift, scale):
    model = small_model()
    generator = torch.Generator().manual_seed(seed)
    for each in model.parameters():
        each.data.copy_(torch.randn(each.shape, generator=generator) * scale + shift)
    wide = [model[place].weight.detach().double() for place in (0, 2, 4)]
    rms = [matrix.square().mean().sqrt() for matrix in wide]
    spreads = [matrix.std(correction=0) / root for matrix, root in zip(wide, rms, strict=True)]
    gains = [rms[1] * math.sqrt(6), rms[2] * math.sqrt(8)]
    values = ModelMeasurement(model).weights()
    assert values["weight_spread"] == pytest.approx(float(min(spreads)), rel=1e-3, abs=1e-3)
    assert values["weight_gain"] == pytest.approx(float(max(gains)), rel=1e-5)
    assert values["weights_nonfinite"] == 0


@pytest.mark.parametrize(("dtype", "large"), [(torch.float32, 1e30), (torch.float16, 6e4)])
def test_large_weights_are_numbers_and_what_is_none_is_left_out(model, dtype, large):
    model.to(dtype)[2].weight.data.fill_(large)
    values = ModelMeasurement(model).weights()
    assert values["weights_nonfinite"] == 0
    assert values["weight_gain"] == pytest.approx(large * math.sqrt(6), rel=1e-3)
    for value in (math.nan, math.inf, -math.inf):
        model[2].weight.data[3, 3] = value
        model[3].bias.data[:] = value
        values = ModelMeasurement(model).weights()
        assert values["weights_nonfinite"] == 2
        assert math.isfinite(values["weight_gain"])


@given(st.lists(st.integers(-3, 12), max_size=20), st.integers(1, 10))
def test_indices_outside_are_counted(indices, rows):
    expected = sum(not 0 <= index < rows for index in indices)
    assert measure_indices(torch.tensor(indices, dtype=torch.long), rows) == expected


def test_measuring_holds_no_parameter(model):
    measurement = ModelMeasurement(model)
    measurement.structure(), measurement.weights()
    old = weakref.ref(model[4].weight)
    replace_parameter(model)
    assert old() is None


# Outputs of modules are measured in one forward pass, and nothing of them is kept.


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
def recurrent():
    torch.manual_seed(0)
    return Recurrent()


IDS = torch.arange(21).reshape(3, 7) % 9


def seen(model, inputs=IDS):
    measurement = ActivationMeasurement(model)
    measurement.arm()
    model(inputs)
    measurement.disarm()
    return measurement.measure()


def naive_of(output):
    size = output.square().mean().sqrt()
    return float(size), float(output.std(0, correction=0).mean() / size)


def test_numbers_are_those_of_the_outputs(recurrent):
    values = seen(recurrent)
    sizes, spreads = zip(
        *(naive_of(output.detach().double().reshape(-1, 6)) for output in recurrent.seen),
        strict=True,
    )
    assert values["activations_nonfinite"] == 0
    assert values["activation_rms"] == pytest.approx(sorted(sizes)[1], rel=1e-5)
    assert values["activation_spread"] == pytest.approx(min(spreads), rel=1e-5)


def test_large_outputs_are_sampled_at_even_distances_and_channels_are_units_of_convolutions():
    ids = torch.arange(4 * 300).reshape(4, 300) % 9
    linear = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 5))
    output = linear(ids).detach().reshape(-1, 5)
    sample = output[:: -(-len(output) // MOST_POSITIONS)]
    assert len(sample) <= MOST_POSITIONS
    assert seen(linear, ids)["activation_rms"] == pytest.approx(naive_of(sample)[0], rel=1e-5)
    convolution, images = nn.Conv2d(2, 3, 1), torch.randn(2, 2, 4, 5)
    output = convolution(images).detach().movedim(1, -1).reshape(-1, 3)
    values = seen(convolution, images)
    assert values["activation_spread"] == pytest.approx(naive_of(output)[1], rel=1e-5)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_modules_whose_output_is_no_number_are_counted(recurrent, value):
    recurrent.linear.bias.data[-1] = value
    values = seen(recurrent)
    assert values["activations_nonfinite"] == 2  # and the norm that reads it
    assert math.isfinite(values["activation_rms"])


def test_only_an_armed_pass_is_seen(recurrent):
    measurement = ActivationMeasurement(recurrent)
    recurrent(IDS)
    assert measurement.measure() == {}
    measurement.arm()
    measurement.arm()
    recurrent(IDS)
    assert measurement.measure()["activation_rms"] > 0
    measurement.disarm()
    recurrent(IDS)
    assert measurement.measure() == {}
    assert not any(module._forward_hooks for module in recurrent.modules())


def test_outputs_are_neither_kept_nor_changed(recurrent):
    recurrent.dropout.p = 0.0
    recurrent(IDS)
    unmeasured = recurrent.seen
    measurement = ActivationMeasurement(recurrent)
    measurement.arm()
    output = recurrent(IDS)
    measurement.disarm()
    for place, before in enumerate(unmeasured):
        assert torch.equal(before, recurrent.seen[place])
        assert before._version == recurrent.seen[place]._version
    reference = weakref.ref(recurrent.seen[1])
    output.sum().backward()
    del output
    recurrent.seen = []
    assert reference() is None
    assert measurement.measure()["activation_rms"] > 0


def test_outputs_in_half_precision_do_not_overflow():
    inputs = torch.full((64, 4), 1e20, dtype=torch.bfloat16)
    assert seen(nn.Linear(4, 4).to(torch.bfloat16), inputs)["activations_nonfinite"] == 0
