"""What Accelerate has prepared is watched as it is, and training stays as it was."""

import pytest
import torch
from accelerate import Accelerator

from failbench.monitor import Monitor, Vocabulary
from failbench.monitor.signals import LEVELS
from made_up_models import ROWS, TOKENS, Texts, alarms, causal_model


def train(monitor=None, accumulate=1, epochs=2, data=None, model=None, precision="no"):
    """A loop as Accelerate's own documentation has it; returns the weights."""
    accelerator = Accelerator(
        cpu=True, gradient_accumulation_steps=accumulate, mixed_precision=precision
    )
    model = causal_model() if model is None else model
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(Texts(24) if data is None else data, ROWS, shuffle=True)
    held_out = torch.utils.data.DataLoader(Texts(6, seed=1), ROWS)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    model, optimizer, loader, held_out = accelerator.prepare(model, optimizer, loader, held_out)
    if monitor is not None:
        monitor.watch(model, optimizer)
        loader = monitor.data(loader)
    for _ in range(epochs):
        for batch in loader:
            with accelerator.accumulate(model):
                accelerator.backward(model(**batch).loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        if monitor is not None:
            with monitor.phase("evaluation"):
                evaluate(model, monitor.data(held_out))
        else:
            evaluate(model, held_out)
    return accelerator.unwrap_model(model).state_dict()


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        for batch in loader:
            model(**batch)
    model.train()


def series(monitor, name):
    steps, values = monitor.history().series(name)
    return list(steps), list(values)


@pytest.fixture(scope="module")
def unwatched():
    return train(accumulate=3)


@pytest.mark.parametrize("level", LEVELS)
def test_training_is_equal_bit_for_bit_with_and_without(tmp_path, unwatched, level):
    with Monitor(tmp_path / "run", level, 2, Vocabulary(TOKENS)) as monitor:
        watched = train(monitor, accumulate=3)
    assert all(torch.equal(unwatched[name], watched[name]) for name in unwatched)


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_step_has_all_its_batches_and_an_epoch_its_evaluation(tmp_path, accumulate):
    with Monitor(tmp_path / "run", every=2, vocabulary=Vocabulary(TOKENS)) as monitor:
        train(monitor, accumulate)
    count = 12 // accumulate
    assert monitor.history().end.kind == "completed"
    assert alarms(monitor.history()) == set()
    assert series(monitor, "forwards") == (list(range(count)), [accumulate] * count)
    assert series(monitor, "backwards")[1] == [accumulate] * count
    assert series(monitor, "rows")[1] == [ROWS] * count
    assert set(series(monitor, "labels_next")[1]) == {1}
    assert set(series(monitor, "gradients_left")[1]) == {0}
    assert series(monitor, "loss_ratio")[1] == pytest.approx([1] * count, rel=1e-4)
    assert series(monitor, "update_error")[1] == pytest.approx([0] * (count // 2), abs=1e-3)
    assert series(monitor, "evaluation_rows") == ([count // 2 - 1, count - 1], [ROWS] * 2)
    assert series(monitor, "evaluation_loss_ratio")[1] == pytest.approx([1, 1], rel=1e-4)
    for name in ("evaluation_changed", "evaluation_graph", "evaluation_training"):
        assert series(monitor, name)[1] == [0, 0], name
    assert len(series(monitor, "busy_data")[0]) == count
