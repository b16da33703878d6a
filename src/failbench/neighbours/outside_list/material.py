"""Material: a small language model, a text for it, and a training loop as a user writes it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from failbench.monitor import Monitor, Vocabulary

TOKENS, WIDTH, HEADS, LAYERS, BLOCK, ROWS = 64, 32, 4, 2, 24, 8
STEPS: Final = 80  # training steps of every program
LEARNING_RATE: Final = 3e-3
LEVEL: Final = "full"  # measures all; a run is judged without what a lower level lacks


@dataclass(frozen=True)
class Run:
    """What a program is told: whether it has its bug, which rank it is, and its folders."""

    faulty: bool
    rank: int
    log: Path
    scratch: Path


Program = Callable[[Run], None]  # a training with a published bug, or without it


def text(tokens: int, seed: int = 0) -> Tensor:
    """A text in which each token depends on the one before it, of shape (tokens,)."""
    steps = np.random.default_rng(seed).choice([1, 2, 3, 11], tokens, p=[0.5, 0.3, 0.15, 0.05])
    return torch.from_numpy(steps.cumsum() % TOKENS)


def pieces(number: int = STEPS * ROWS, seed: int = 0) -> Any:
    """A text cut into pieces of BLOCK + 1 tokens, of shape (number, BLOCK + 1)."""
    return text(number * (BLOCK + 1), seed).view(number, BLOCK + 1)


class Examples(torch.utils.data.Dataset):
    """Pieces of a text, each made into an example where it is read."""

    def __init__(self, rows: Tensor, made: Callable[[Tensor], Any]) -> None:
        self.rows, self.made = rows, made

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Any:
        return self.made(self.rows[place])


def batches(rank: int = 0) -> Any:
    """A loader of shuffled batches of shape (ROWS, BLOCK + 1), others for each rank."""
    generator = torch.Generator().manual_seed(1 + rank)
    return torch.utils.data.DataLoader(pieces(), ROWS, shuffle=True, generator=generator)


def held_out() -> Any:
    """A loader of batches of another text."""
    return torch.utils.data.DataLoader(pieces(4 * ROWS, seed=1), ROWS)


class Block(nn.Module):
    """Causal attention and a perceptron, each after a normalisation and beside a shortcut."""

    def __init__(self, perceptron: nn.Module | None = None) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.projections = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.perceptron_norm = nn.LayerNorm(WIDTH)
        self.perceptron = perceptron or nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, hidden: Tensor) -> Tensor:
        """Map states of shape (rows, positions, WIDTH) to states of that shape."""
        rows, positions, _ = hidden.shape
        projected = self.projections(self.attention_norm(hidden))
        query, key, value = (
            part.view(rows, positions, HEADS, -1).transpose(1, 2)
            for part in projected.chunk(3, dim=-1)
        )
        mixed = scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.output(mixed.transpose(1, 2).reshape(rows, positions, WIDTH))
        return hidden + self.perceptron(self.perceptron_norm(hidden))


class LanguageModel(nn.Module):
    """A causal language model of some 30 thousand parameters."""

    def __init__(self, blocks: Iterable[nn.Module] | None = None) -> None:
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.positions = nn.Embedding(BLOCK, WIDTH)
        self.blocks = nn.Sequential(*(blocks or [Block() for _ in range(LAYERS)]))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS)

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids of shape (rows, positions) to logits of shape (rows, positions, TOKENS)."""
        places = torch.arange(ids.shape[1])
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.positions(places))))


def adam(model: nn.Module) -> Any:
    """Adam over all parameters of a model."""
    return torch.optim.Adam(model.parameters(), LEARNING_RATE)


def nothing(number: int) -> None:
    """What most programs do before a pass or an update, of the step with this number."""


def monitor_of(run: Run) -> Monitor:
    """The monitor of a run."""
    return Monitor(run.log, level=LEVEL, vocabulary=Vocabulary(size=TOKENS), budget=None)


def train(
    run: Run,
    model: Any,
    optimizer: Any,
    loader: Any = None,
    *,
    before_forward: Callable[[int], None] = nothing,
    before_update: Callable[[int], None] = nothing,
    clear: bool = True,
    autocast: bool = False,
    evaluate_every: int | None = None,
) -> None:
    """Train a language model for a step per batch, as docs/monitor.md says."""
    with monitor_of(run) as monitor:
        monitor.watch(model, optimizer)
        if evaluate_every is not None:
            evaluate(monitor, model)
        read = batches(run.rank) if loader is None else loader
        for number, rows in enumerate(monitor.data(read)):
            before_forward(number)
            labels = rows[:, 1:]
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                logits = model(rows[:, :-1])
                loss = cross_entropy(logits.flatten(0, 1), labels.flatten())
            monitor.loss(logits, labels, loss)
            loss.backward()
            before_update(number)
            optimizer.step()
            if clear:
                optimizer.zero_grad()
            if evaluate_every is not None and (number + 1) % evaluate_every == 0:
                evaluate(monitor, model)


def evaluate(monitor: Monitor, model: Any) -> None:
    """Evaluate a language model on another text."""
    with monitor.phase("evaluation"), torch.no_grad():
        model.eval()
        for rows in monitor.data(held_out()):
            logits, labels = model(rows[:, :-1]), rows[:, 1:]
            monitor.loss(logits, labels, cross_entropy(logits.flatten(0, 1), labels.flatten()))
        model.train()
