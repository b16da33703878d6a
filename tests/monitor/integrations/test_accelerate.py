"""What Accelerate has prepared is watched as it is, and training stays as it was."""

from contextlib import nullcontext

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState

from failbench.monitor import Monitor, Vocabulary
from failbench.monitor.signals import LEVELS
from made_up_models import ROWS, TOKENS, BrokenError, Texts, alarms, break_at, causal_model


def train(monitor=None, accumulate=1, data=None, model=None, precision="no"):
    """A loop as Accelerate's own documentation has it, of two epochs; returns the weights."""
    accelerator = Accelerator(
        cpu=True, gradient_accumulation_steps=accumulate, mixed_precision=precision
    )
    model = model or causal_model()
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(data or Texts(24), ROWS, shuffle=True)
    held_out = torch.utils.data.DataLoader(Texts(6, seed=1), ROWS)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    model, optimizer, loader, held_out = accelerator.prepare(model, optimizer, loader, held_out)
    if monitor is not None:
        monitor.watch(model, optimizer)
        loader, held_out = monitor.data(loader), monitor.data(held_out)
    for _ in range(2):
        for batch in loader:
            with accelerator.accumulate(model):
                accelerator.backward(model(**batch).loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        with nullcontext() if monitor is None else monitor.phase("evaluation"), torch.no_grad():
            model.eval()
            for batch in held_out:
                model(**batch)
            model.train()
    return accelerator.unwrap_model(model).state_dict()


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
    assert series(monitor, "forwards")[0] == list(range(count))
    passes = {"forwards": accumulate, "backwards": accumulate, "rows": ROWS, "gradients_left": 0}
    passes |= {"labels_next": 1, "evaluation_rows": ROWS, "evaluation_changed": 0}
    for name, value in (passes | {"evaluation_graph": 0, "evaluation_training": 0}).items():
        assert set(series(monitor, name)[1]) == {value}, name
    assert series(monitor, "loss_ratio")[1] == pytest.approx([1] * count, rel=1e-4)
    assert series(monitor, "update_error")[1] == pytest.approx([0] * (count // 2), abs=1e-3)
    assert series(monitor, "evaluation_rows")[0] == [count // 2 - 1, count - 1]
    assert series(monitor, "evaluation_loss_ratio")[1] == pytest.approx([1, 1], rel=1e-4)
    assert len(series(monitor, "busy_data")[0]) == count


@pytest.fixture
def other_state():
    """Accelerate keeps one state in a process."""
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


def test_half_precision_leaves_the_loss_what_it_is_computed_from(tmp_path, other_state):
    with Monitor(tmp_path / "run", every=4, vocabulary=Vocabulary(TOKENS)) as monitor:
        train(monitor, precision="bf16")
    assert series(monitor, "loss_ratio")[1] == pytest.approx([1] * 12, rel=1e-2)


@pytest.mark.parametrize("phase", ["forward", "data"])
def test_an_error_is_noted_with_its_phase(tmp_path, phase):
    model, data = causal_model(), Texts(24, fails_at=13 if phase == "data" else None)
    if phase == "forward":
        break_at(model.lm_head, 4)
    with pytest.raises((BrokenError, OSError)), Monitor(tmp_path / "run") as monitor:
        train(monitor, data=data, model=model)
    end = monitor.history().end
    assert (end.kind, end.phase) == ("exception", phase)
    assert end.error.endswith(("BrokenError", "OSError"))
