"""The first loss of a model's output tells which logits belong to which labels."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import cross_entropy

from failbench.monitor import Monitor

TOKENS = 11


class Model(torch.nn.Module):
    def __init__(self, loss):
        super().__init__()
        torch.manual_seed(0)
        self.table = torch.nn.Embedding(TOKENS, 8)
        self.head = torch.nn.Linear(8, TOKENS)
        self.loss = loss

    def forward(self, input_ids, labels, **given):
        logits = self.head(self.table(input_ids))
        return SimpleNamespace(logits=logits, loss=self.loss(logits, labels, **given))


class ModelForCausalLM(Model):
    """Says by its name that it shifts labels."""


def beside(logits, labels, reduction="mean"):
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction=reduction)


def shifted(logits, labels, reduction="mean", num_items_in_batch=1):
    return beside(logits[:, :-1], labels[:, 1:], reduction) / num_items_in_batch


@pytest.fixture
def seen(tmp_path):
    def history(model, **given):
        generator = torch.Generator().manual_seed(0)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with Monitor(tmp_path / str(len(list(tmp_path.iterdir()))), every=4) as monitor:
            monitor.watch(model, optimizer)
            for _ in range(4):
                ids = torch.randint(TOKENS, (3, 7), generator=generator)
                model(input_ids=ids, labels=ids, **given).loss.backward()
                optimizer.step()
                optimizer.zero_grad()
        return monitor.history()

    return history


@pytest.mark.parametrize("kind", [Model, ModelForCausalLM])
@pytest.mark.parametrize("loss", [beside, shifted])
def test_the_convention_that_agrees_is_kept_whatever_the_name_says(seen, kind, loss):
    history = seen(kind(loss))
    assert history.series("loss_ratio")[1] == pytest.approx([1] * 4, rel=1e-4)
    assert history.series("logit_gradient_error")[1] == pytest.approx([0], abs=1e-4)
    assert list(history.series("labels_next")[1] == 1) == [loss is shifted] * 4


def test_a_loss_that_agrees_with_neither_is_compared_with_none_and_the_log_says_so(seen):
    history = seen(Model(partial(beside, reduction="sum")))
    assert list(history.series("loss")[0]) == [0, 1, 2, 3]
    for signal in ("loss_ratio", "labels_next", "logit_gradient_error"):
        assert not len(history.series(signal)[0])
        assert "monitor.loss" in history.off[signal]


def test_a_loss_divided_by_the_labels_of_a_whole_step_is_the_mean_of_its_batch(seen):
    summed = partial(shifted, reduction="sum")
    # a name that tells is believed where the loss agrees with neither
    history = seen(ModelForCausalLM(summed))
    assert history.series("loss_ratio")[1] == pytest.approx([18] * 4, rel=1e-4)
    history = seen(Model(summed), num_items_in_batch=torch.tensor(54))
    assert history.series("loss_ratio")[1] == pytest.approx([1] * 4, rel=1e-4)
    assert history.series("loss")[1][0] > 2
    assert history.series("logit_gradient_scale")[1] == pytest.approx([1 / 3], rel=1e-4)
