"""Training of one model, the same from its seed each time as long as it has one thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

from failbench.reasoning.conditions import Condition, Settings
from failbench.reasoning.examples import IGNORED, batches, examples
from failbench.reasoning.grid import Cell, stream
from failbench.reasoning.model import Decoder
from failbench.reasoning.tokenizers import Tokenizer

BETAS: Final = (0.9, 0.98)  # of AdamW: the average of squares follows within a short training
LAST: Final = 50  # steps over which the loss at the end is a mean


@dataclass(frozen=True)
class Trained:
    """A model, and how its training ended."""

    model: Decoder
    steps: int
    loss: float


def rate(step: int, settings: Settings, condition: Condition) -> float:
    """The learning rate of a step, counted from 0."""
    rise = (step + 1) / settings.warmup
    fall = (settings.steps - step) / (settings.decay * settings.steps)
    return settings.learning_rate * condition.rate * min(1.0, rise, fall)


def train(
    cells: Sequence[Cell],
    settings: Settings,
    condition: Condition,
    tokenizer: Tokenizer,
    seed: int,
    held_out: frozenset[str],
) -> Trained:
    """Train a model; all of a seed have the same weights at the start and the same problems."""
    model = Decoder(settings.shape, len(tokenizer.tokens), is_causal=condition.is_causal, seed=seed)
    optimizer = torch.optim.AdamW(
        model.parameters(), betas=BETAS, weight_decay=settings.weight_decay, fused=True
    )
    problems = stream(cells, settings.mixture, np.random.default_rng([seed, 0]), held_out)
    drawn = examples(problems, condition, tokenizer, seed)
    rows = batches(drawn, settings.batch, np.random.default_rng([seed, 2]))
    steps = round(settings.steps * condition.steps)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate(step, settings, condition)
        ids, labels = (torch.from_numpy(part) for part in next(rows))
        logits = model(ids[:, :-1]).flatten(0, 1)
        total = cross_entropy(logits, labels.flatten(), ignore_index=IGNORED, reduction="sum")
        # Where examples are cut short, a batch may hold prompts alone.
        loss = total / max(1, int((labels != IGNORED).sum()))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step()
        losses.append(loss.item())
        if not np.isfinite(losses[-1]):
            raise FloatingPointError(f"The loss of step {step} is {losses[-1]}.")
    return Trained(model.eval(), steps, float(np.mean(losses[-LAST:])))
