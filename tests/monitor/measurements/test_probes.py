"""Probes tell models apart that mix what they must not, and leave no trace."""

# ruff: noqa: NPY002 - the generator that must not be touched

import random
from collections import namedtuple
from dataclasses import make_dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from failbench.monitor.measurements.probes import Probes

IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8], [3, 1, 9, 2]])
KEYWORDS = ("determinism", "causality", "independence", "training")


class Model(nn.Module):
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


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(10, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, 10, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        padded = torch.zeros_like(ids) > 0
        return self.head(self.layers(self.embedding(ids), src_key_padding_mask=padded))


def probe(model, *args, **kwargs):
    values = Probes(model).measure(args, kwargs)
    return {name.removeprefix("probe_"): value for name, value in values.items()}


@pytest.mark.parametrize(
    ("model", "broken"),
    [
        (Model(), ()), (Model(future=True), ("causality",)), (Model(rows=True), ("independence",)),
        (Model(noise=True), KEYWORDS), (Model(dropout=0.5), ("training",)),
        (Model(normal=True), ("training",)), (Encoder(), ("causality",)),
    ],
)  # fmt: skip
def test_each_probe_sees_what_it_is_for(model, broken):
    values = probe(model, IDS)
    assert {name for name, value in values.items() if value > 1e-3} == set(broken)
    assert {name for name, value in values.items() if value < 1e-6} == set(KEYWORDS) - set(broken)


Batch = make_dataclass("Batch", ["labels", "inputs"])
NamedBatch = namedtuple("NamedBatch", ["labels", "inputs"])


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
    values = probe(model, batch=batch) if named else probe(model, batch)
    assert values["causality"] > 1e-3
    assert values["independence"] < 1e-6


def state_of(model):
    """All that a probe might change: generators, modes, weights, buffers and their versions."""
    buffers = {name: (id(each), each._version) for name, each in model.named_buffers()}
    return [
        random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist(),
        [module.training for module in model.modules()], buffers,
        {name: each.tolist() for name, each in model.state_dict().items()},
        [each.grad for each in model.parameters()], torch.is_grad_enabled(),
        torch.backends.mha.get_fastpath_enabled(), IDS.tolist(),
    ]  # fmt: skip


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_is_other_than_before_where_the_model_fails_too(fails):
    model = Model(dropout=0.5, normal=True, noise=True)
    model.dropout.eval()
    model.head.register_buffer("hidden", torch.zeros(3), persistent=False)
    before = state_of(model)
    if fails:
        with pytest.raises(IndexError):
            probe(model, IDS + 5)
    else:
        probe(model, IDS)
    assert state_of(model) == before


def test_changing_the_mode_runs_no_code_of_the_model_and_a_difference_is_over_the_logits():
    class Merging(Model):
        def train(self, mode=True):
            raise AssertionError("the mode was set by the module itself")

    class Shift(nn.Module):
        def forward(self, ids):
            return torch.full((*ids.shape, 3), 2.0) + 0.5 * self.training

    assert probe(Merging(), IDS)["training"] == 0
    assert probe(Shift(), IDS)["training"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "form",
    [
        lambda logits: SimpleNamespace(loss=logits.sum(), logits=logits),  # as Transformers give it
        lambda logits: {"loss": logits.sum(), "logits": logits},
        lambda logits: (logits.sum(), logits),
    ],
)
def test_logits_are_found_in_outputs_of_any_form(form):
    class Wrapped(Model):
        def forward(self, ids):
            return form(super().forward(ids))

    assert probe(Wrapped(future=True), IDS) == probe(Model(future=True), IDS)
