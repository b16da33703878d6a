"""Probes tell models apart that mix what they must not, and leave no trace."""

# ruff: noqa: NPY002 - the generator that must not be touched

import random
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from failbench.monitor.measurements.probes import Probes

IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8], [3, 1, 9, 2]])
KEYWORDS = ("determinism", "causality", "independence", "training")


class Model(nn.Module):
    """Causal and independent, unless it is told otherwise."""

    def __init__(self, dropout=0.0, future=False, rows=False, noise=False, normal=False):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(10, 6)
        self.norm = nn.BatchNorm1d(6) if normal else nn.LayerNorm(6)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(6, 10)
        self.future, self.rows, self.noise = future, rows, noise

    def forward(self, input_ids, attention_mask=None, labels=None):
        hidden = self.embedding(input_ids)
        hidden = hidden.cumsum(1) if not self.future else hidden + hidden.sum(1, keepdim=True)
        if self.rows:
            hidden = hidden + hidden.mean(0, keepdim=True)
        if self.noise:
            hidden = hidden + torch.randn(hidden.shape)
        hidden = self.norm(hidden.flatten(0, 1)).unflatten(0, hidden.shape[:2])
        return self.head(self.dropout(hidden))


def probe(*args, model=None, **kwargs):
    values = Probes(model or Model()).measure(args, kwargs)
    return {name.removeprefix("probe_"): value for name, value in values.items()}


@pytest.mark.parametrize(
    ("options", "broken"),
    [
        ({}, ()),
        ({"future": True}, ("causality",)),
        ({"rows": True}, ("independence",)),
        ({"noise": True}, KEYWORDS),
        ({"dropout": 0.5}, ("training",)),
        ({"normal": True}, ("training",)),
    ],
)
def test_each_probe_sees_what_it_is_for(options, broken):
    values = probe(IDS, model=Model(**options))
    assert {name for name, value in values.items() if value > 1e-3} == set(broken)
    assert {name for name, value in values.items() if value < 1e-6} == set(KEYWORDS) - set(broken)


@dataclass(frozen=True)
class Batch:
    labels: torch.Tensor
    inputs: torch.Tensor


class NamedBatch(NamedTuple):
    labels: torch.Tensor
    inputs: torch.Tensor


@pytest.mark.parametrize(
    "batch",
    [Batch(-IDS, IDS), NamedBatch(-IDS, IDS), {"labels": -IDS, "inputs": IDS}],
    ids=["dataclass", "named tuple", "mapping"],
)
@pytest.mark.parametrize("named", [False, True])
def test_token_ids_are_found_within_what_the_model_is_called_with(batch, named):
    class Unpacking(Model):
        def forward(self, batch):
            inputs = batch["inputs"] if isinstance(batch, dict) else batch.inputs
            return super().forward(inputs)

    model = Unpacking(future=True)
    values = probe(model=model, batch=batch) if named else probe(batch, model=model)
    assert values["causality"] > 1e-3
    assert values["independence"] < 1e-6


def test_a_difference_is_over_the_size_of_the_logits():
    class Shift(nn.Module):
        def forward(self, ids):
            return torch.full((*ids.shape, 3), 2.0) + 0.5 * self.training

    assert probe(IDS, model=Shift())["training"] == pytest.approx(0.25)


def test_nothing_is_other_than_before():
    model = Model(dropout=0.5, normal=True, noise=True)
    model.dropout.eval()
    model.head.register_buffer("hidden", torch.zeros(3), persistent=False)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    versions = {name: value._version for name, value in model.named_buffers()}
    objects = {name: id(value) for name, value in model.named_buffers()}
    modes = {name: module.training for name, module in model.named_modules()}
    random.seed(0), np.random.seed(0)
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()
    Probes(model).measure((IDS,), {})
    assert random.getstate() == before[0]
    assert np.random.get_state()[1].tolist() == before[1]
    assert torch.equal(torch.get_rng_state(), before[2])
    assert {name: module.training for name, module in model.named_modules()} == modes
    assert {name: value._version for name, value in model.named_buffers()} == versions
    assert {name: id(value) for name, value in model.named_buffers()} == objects
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.is_grad_enabled()
    assert torch.equal(IDS, torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8], [3, 1, 9, 2]]))


def test_modes_and_generators_are_put_back_where_the_model_fails():
    model = Model(noise=True)
    before = torch.get_rng_state()
    with pytest.raises(IndexError):
        Probes(model).measure((IDS + 5,), {})
    assert all(module.training for module in model.modules())
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.backends.mha.get_fastpath_enabled()


def test_changing_the_mode_runs_no_code_of_the_model():
    class Merging(Model):
        def train(self, mode=True):
            raise AssertionError("the mode was set by the module itself")

    assert probe(IDS, model=Merging())["training"] == 0


class Answer:
    """An output as Transformers' models give it."""

    def __init__(self, logits):
        self.loss, self.logits = logits.sum(), logits


@pytest.mark.parametrize(
    "form",
    [
        Answer,
        lambda logits: {"loss": logits.sum(), "logits": logits},
        lambda logits: (logits.sum(), logits),
    ],
)
def test_logits_are_found_in_outputs_of_any_form(form):
    class Wrapped(Model):
        def forward(self, ids):
            return form(super().forward(ids))

    assert probe(IDS, model=Wrapped(future=True)) == probe(IDS, model=Model(future=True))
