# ruff: noqa: NPY002 - the generator that must not be touched

import copy
import random

import numpy as np
import pytest
import torch
from torch import nn

from failbench.preflight.preflight import preflight

LOSS = nn.CrossEntropyLoss()


class Remembering(nn.Module):
    """A model with dropout, running averages, a counter, a cache, draws and a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 6)
        self.recurrent = nn.LSTM(6, 6, batch_first=True)
        self.norm = nn.BatchNorm1d(6)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(6, 3)
        self.calls, self.cache, self.last = 0, [], None
        self.table = torch.zeros(6)  # no buffer: a plain tensor

    def forward(self, ids):
        self.calls += 1
        hidden = self.recurrent(self.embed(ids))[0][:, -1]
        hidden = self.drop(self.norm(hidden)) + self.table * random.random() * np.random.rand()
        self.cache.append(hidden)
        self.last = hidden
        self.table = self.table + 1
        return self.head(hidden)


def made(steps=0):
    torch.manual_seed(0)
    model = Remembering()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    batch = (torch.arange(8).reshape(4, 2), torch.tensor([0, 1, 2, 0]))
    for _ in range(steps):
        optimizer.zero_grad()
        LOSS(model(batch[0]), batch[1]).backward()
        optimizer.step()
    return model, optimizer, batch


def state(model, optimizer, batch):
    """All that a step changes, copied."""
    return copy.deepcopy(
        (
            model.state_dict(),
            [each.grad for each in model.parameters()],
            optimizer.state_dict(),
            batch,
            (model.calls, len(model.cache), model.last is None, model.table, model.training),
            torch.get_rng_state(),
            random.getstate(),
            np.random.get_state()[1],
            torch.is_grad_enabled(),
        )
    )


def same(first, second):
    """Whether two structures are equal bit for bit."""
    if isinstance(first, torch.Tensor):
        return torch.equal(first, second) and first.dtype == second.dtype
    if isinstance(first, np.ndarray):
        return bool((first == second).all())
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return first == second


def ids(model):
    """Which objects a model consists of."""
    return [id(each) for each in (*model.parameters(), *model.buffers(), *model.modules())]


@pytest.mark.parametrize(
    ("steps", "given", "raises"),
    [(0, {}, False), (2, {}, False), (2, {"real_step": True}, False), (1, {}, True)],
)
def test_nothing_is_changed_and_schedules_step_the_optimizer_they_were_made_for(
    steps, given, raises
):
    model, optimizer, batch = made(steps)
    model.cache.clear()
    model.last = None
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer)
    step, rates = optimizer.step, schedule.get_last_lr()
    if raises:
        model.head = nn.Linear(5, 3)
    before, objects = state(model, optimizer, batch), ids(model)
    assert preflight(model, optimizer, LOSS, batch, **given).fails is raises
    assert same(before, state(model, optimizer, batch))
    assert ids(model) == objects
    assert optimizer.step is step
    assert schedule.get_last_lr() == rates
    assert all(type(each) is nn.Parameter for each in model.recurrent._flat_weights)


def test_a_training_goes_on_as_one_without_a_preflight():
    def trained(looks):
        model, optimizer, batch = made()
        random.seed(1)
        np.random.seed(1)
        losses = []
        for step in range(4):
            if step in looks:
                preflight(model, optimizer, LOSS, batch)
            optimizer.zero_grad()
            loss = LOSS(model(batch[0]), batch[1])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    assert trained(()) == trained((0, 2, 3))


def test_gradients_of_another_model_that_the_loss_reaches_are_kept():
    model, optimizer, batch = made()
    teacher = nn.Linear(3, 3)
    teacher.weight.grad = torch.full_like(teacher.weight, 7.0)
    preflight(model, optimizer, lambda outputs, labels: LOSS(teacher(outputs), labels), batch)
    assert torch.equal(teacher.weight.grad, torch.full_like(teacher.weight, 7.0))
    assert teacher.bias.grad is None
