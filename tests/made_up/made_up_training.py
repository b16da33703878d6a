import random
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

TOKENS, WIDTH, POSITIONS, ROWS = 64, 16, 12, 4
PADDING, UNKNOWN = 0, 1


class Tiny(nn.Module):
    def __init__(self, tied=False, dropout=0.1):
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.positions = nn.Embedding(POSITIONS + 1, WIDTH)
        self.mix = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(WIDTH, TOKENS, bias=False)
        if tied:
            self.output.weight = self.tokens.weight

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device)
        hidden, _ = self.mix(self.tokens(ids) + self.positions(places))
        return self.output(self.dropout(self.norm(hidden)))


class Texts(torch.utils.data.Dataset):
    """Rows of tokens, of which each depends on the one before it."""

    def __init__(self, rows=400):
        steps = np.random.default_rng(7).integers(1, 4, (rows, POSITIONS + 1))
        self.rows = torch.tensor(2 + steps.cumsum(axis=1) % (TOKENS - 2))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place):
        return self.rows[place]


def loader(rows: int = 400) -> Any:
    return torch.utils.data.DataLoader(Texts(rows), ROWS, shuffle=True)


def cross_entropy(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


@dataclass
class Loop:
    """A training loop, which takes ``accumulate`` batches a step and evaluates every so often."""

    optimizers: Callable[[Any], list[Any]]
    accumulate: int = 1
    scaled: bool = False
    autocast: bool = False
    tied: bool = False
    compiled: bool = False
    loader_given: bool = True
    loss_given: bool = True
    closure: bool = False
    evaluate: int = 7

    def run(self, monitor=None, steps=25, at=lambda what, number: None):
        """Train; return losses, parameters and the states of all generators."""
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        torch.manual_seed(0)
        model, losses, batches = Tiny(self.tied), [], loader()
        optimizers = self.optimizers(model)
        called = torch.compile(model, backend="eager") if self.compiled else model
        scaler = torch.amp.GradScaler("cpu", enabled=self.scaled)
        if monitor is not None:
            monitor.watch(called, *optimizers)
            batches = monitor.data(batches) if self.loader_given else batches
        for number, batch in enumerate(batches):
            if number == steps * self.accumulate:
                break
            at("data", number)
            ids, labels = batch[:, :-1], batch[:, 1:]
            given = monitor if self.loss_given else None
            if self.closure:
                optimizers[0].step(partial(self._backward, called, ids, labels, given))
                optimizers[0].zero_grad()
                continue
            with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
                logits = called(ids)
                at("loss", number)
                loss = cross_entropy(logits, labels)
            if given is not None:
                assert given.loss(logits, labels, loss) is loss
            losses.append(loss.item())
            scaler.scale(loss / self.accumulate).backward()
            if (number + 1) % self.accumulate:
                continue
            at("step", number)
            for optimizer in optimizers:
                scaler.step(optimizer)
            scaler.update()
            for optimizer in optimizers:
                optimizer.zero_grad()
            at("callback", number)
            if number % self.evaluate == 0:
                losses.append(evaluate(model, monitor, self.loader_given))
        parameters = [each.detach().clone() for each in model.parameters()]
        generators = torch.get_rng_state(), np.random.get_state()[1], random.getstate()  # noqa: NPY002
        return losses, parameters, generators

    def _backward(self, model, ids, labels, monitor):
        logits = model(ids)
        loss = cross_entropy(logits, labels)
        if monitor is not None:
            monitor.loss(logits, labels, loss)
        loss.backward()
        return loss


def evaluate(model, monitor=None, loader_given=True):
    total, batches = 0.0, [Texts(8).rows[:4], Texts(8).rows[4:]]
    with nullcontext() if monitor is None else monitor.phase("evaluation"), torch.no_grad():
        model.eval()
        for batch in monitor.data(batches) if monitor is not None and loader_given else batches:
            logits = model(batch[:, :-1])
            loss = cross_entropy(logits, batch[:, 1:])
            if monitor is not None:
                monitor.loss(logits, batch[:, 1:], loss)
            total += loss.item()
        model.train()
    return total


def adamw(model):
    return [torch.optim.AdamW(model.parameters(), 1e-2)]


def sgd(model):
    return [torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)]


def fused(model):
    return [torch.optim.AdamW(model.parameters(), 1e-2, fused=True)]


def two(model):
    head = list(model.output.parameters())
    rest = [each for each in model.parameters() if all(each is not other for other in head)]
    return [torch.optim.AdamW(rest, 1e-2), torch.optim.SGD(head, 0.1)]


def needs_bfloat16():
    """Skip where the processor's libraries have no LSTM in bfloat16, with or without a monitor."""
    try:
        with torch.autocast("cpu", torch.bfloat16):
            nn.LSTM(WIDTH, WIDTH)(torch.zeros(1, 1, WIDTH))
    except RuntimeError as error:
        pytest.skip(f"no LSTM in bfloat16 on this processor: {error}")


LOOPS = {
    "adamw": Loop(adamw), "sgd": Loop(sgd), "fused": Loop(fused), "two optimizers": Loop(two),
    "accumulation": Loop(adamw, accumulate=3), "scaler": Loop(adamw, scaled=True),
    "scaler and fused": Loop(fused, scaled=True), "bfloat16": Loop(adamw, autocast=True),
    "tied": Loop(adamw, tied=True), "compiled": Loop(adamw, compiled=True),
    "no loader": Loop(adamw, loader_given=False),
    "no loader, accumulation": Loop(adamw, loader_given=False, accumulate=3),
    "closure": Loop(adamw, closure=True),
    "closure, no loader": Loop(adamw, closure=True, loader_given=False),
    "nothing given": Loop(sgd, loader_given=False, loss_given=False),
}  # fmt: skip


def equal(left: Any, right: Any) -> bool:
    """Whether two results are equal bit for bit."""
    if isinstance(left, torch.Tensor | np.ndarray):
        return np.array_equal(left, right)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def hooks_of(model) -> Iterator[Any]:
    """All hooks of a model's modules, and of all optimizers."""
    for part in model.modules():
        yield from part._forward_hooks.values()
        yield from part._forward_pre_hooks.values()
    of_all = sys.modules["torch.optim.optimizer"]
    yield from of_all._global_optimizer_pre_hooks.values()
    yield from of_all._global_optimizer_post_hooks.values()
