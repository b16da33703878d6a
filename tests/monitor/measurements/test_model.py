"""A model is measured as a walk through its modules and weights says."""

import math
import weakref

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from failbench.monitor.measurements.model import ModelMeasurement, measure_indices


def small_model():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Embedding(11, 6), nn.Dropout(0.1), nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 6)
    )


def naive(model):
    parameters = list(model.parameters())
    named = [each for _, each in model.named_parameters(remove_duplicate=False)]
    return {
        "parameters": sum(each.numel() for each in parameters),
        "trainable_parameters": sum(each.numel() for each in parameters if each.requires_grad),
        "parameter_types": len({each.dtype for each in parameters if each.is_floating_point()}),
        "shared_parameters": len(named)
        - len({each.untyped_storage().data_ptr() for each in named}),
        "modules_in_evaluation": sum(not each.training for each in model.modules()),
        "dropout": max(
            [each.p for each in model.modules() if isinstance(each, nn.Dropout) and each.training],
            default=0.0,
        ),
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
def test_a_change_of_the_model_is_seen_at_the_next_step(change):
    model = small_model()
    measurement = ModelMeasurement(model)
    before = measurement.structure()
    assert before == naive(model)
    change(model)
    assert measurement.structure() == naive(model) != before


def test_names_of_nothing_change_nothing():
    model = small_model()
    measurement = ModelMeasurement(model)
    before = measurement.structure()
    model[2].register_parameter("gate", None)
    model.register_module("head", None)
    assert measurement.structure() == naive(model) == before


def test_a_second_name_and_a_shared_storage_count_alike():
    model = small_model()
    tie(model)
    assert ModelMeasurement(model).structure()["shared_parameters"] == 1
    share_storage(model)
    assert ModelMeasurement(model).structure()["shared_parameters"] == 2


def test_dropout_of_attention_counts():
    attention = nn.MultiheadAttention(8, 2, dropout=0.3)
    assert ModelMeasurement(attention).structure()["dropout"] == 0.3
    assert ModelMeasurement(attention.eval()).structure()["dropout"] == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(-3, 3), st.floats(0.01, 10))
def test_spread_and_gain_are_those_of_the_matrices(seed, shift, scale):
    model = small_model()
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        values = torch.randn(parameter.shape, generator=generator) * scale + shift
        parameter.data.copy_(values)
    matrices = [model[0].weight, model[2].weight, model[4].weight]
    wide = [matrix.detach().double() for matrix in matrices]
    rms = [matrix.square().mean().sqrt() for matrix in wide]
    spreads = [matrix.std(correction=0) / root for matrix, root in zip(wide, rms, strict=True)]
    gains = [rms[1] * math.sqrt(6), rms[2] * math.sqrt(8)]
    values = ModelMeasurement(model).weights()
    assert values["weight_spread"] == pytest.approx(float(min(spreads)), rel=1e-3, abs=1e-3)
    assert values["weight_gain"] == pytest.approx(float(max(gains)), rel=1e-5)
    assert values["weights_nonfinite"] == 0


def test_a_transposed_map_gains_by_its_own_inputs():
    class Conv1D(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.nf = outputs
            self.weight = nn.Parameter(torch.ones(inputs, outputs))

    assert ModelMeasurement(Conv1D(9, 4)).weights()["weight_gain"] == pytest.approx(3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_parameters_that_are_no_number_are_counted_and_left_out(value):
    model = small_model()
    model[2].weight.data[3, 3] = value
    model[3].bias.data[:] = value
    values = ModelMeasurement(model).weights()
    assert values["weights_nonfinite"] == 2
    assert math.isfinite(values["weight_gain"])


def test_large_finite_weights_are_numbers():
    model = small_model()
    model[2].weight.data.fill_(1e30)
    values = ModelMeasurement(model).weights()
    assert values["weights_nonfinite"] == 0
    assert values["weight_gain"] == pytest.approx(1e30 * math.sqrt(6), rel=1e-5)
    half = small_model().half()
    half[2].weight.data.fill_(6e4)
    assert ModelMeasurement(half).weights()["weight_gain"] == pytest.approx(6e4 * 6**0.5, rel=1e-3)


@given(st.lists(st.integers(-3, 12), max_size=20), st.integers(1, 10))
def test_indices_outside_are_counted(indices, rows):
    expected = sum(not 0 <= index < rows for index in indices)
    assert measure_indices(torch.tensor(indices, dtype=torch.long), rows) == expected


def test_measuring_changes_nothing_and_holds_no_parameter():
    model = small_model()
    versions = [each._version for each in model.parameters()]
    measurement = ModelMeasurement(model)
    measurement.structure(), measurement.weights()
    assert [each._version for each in model.parameters()] == versions
    old = weakref.ref(model[4].weight)
    replace_parameter(model)
    assert old() is None
