"""Sampling of answers, token by token, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from failbench.reasoning.model import Cache, Decoder
from failbench.reasoning.tokenizers import END, PAD

ROWS: Final = 240  # answers that are sampled together


@dataclass(frozen=True)
class Sampled:
    """The ids that were generated; the last is that of the end where ``is_ended``."""

    ids: tuple[int, ...]
    is_ended: bool


def sample(
    model: Decoder,
    prompts: Sequence[Sequence[int]],
    *,
    budget: int,
    temperature: float,
    seed: int,
) -> list[Sampled]:
    """Sample an answer to each prompt, in their order."""
    generator = torch.Generator().manual_seed(seed)
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
    answers: dict[int, Sampled] = {}
    for start in range(0, len(order), ROWS):
        places = order[start : start + ROWS]
        rows = [prompts[place] for place in places]
        with torch.inference_mode():
            drawn = _sample_together(model, rows, budget, temperature, generator)
        answers |= dict(zip(places, drawn, strict=True))
    return [answers[place] for place in range(len(prompts))]


def _sample_together(
    model: Decoder,
    prompts: Sequence[Sequence[int]],
    budget: int,
    temperature: float,
    generator: torch.Generator,
) -> list[Sampled]:
    """Sample answers to prompts that stand in one array, filled at their beginning."""
    longest = max(len(prompt) for prompt in prompts)
    padding = torch.tensor([longest - len(prompt) for prompt in prompts])
    ids = torch.tensor([[PAD] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
    written: list[list[int]] = [[] for _ in prompts]
    active = torch.arange(len(prompts))
    cache = Cache()
    for _ in range(budget):
        drawn = _drawn(model(ids, cache, padding)[:, -1], temperature, generator)
        for place, token in zip(active.tolist(), drawn.tolist(), strict=True):
            written[place].append(token)
        goes_on = drawn != END
        if not goes_on.all():
            active, drawn, padding = active[goes_on], drawn[goes_on], padding[goes_on]
            cache.select(goes_on)
        if not len(active):
            break
        ids = drawn[:, None]
    return [Sampled(tuple(row), row[-1] == END) for row in written]


def _drawn(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """A token of each row, never the one that fills rows, which no model is trained to write."""
    logits[:, PAD] = -torch.inf
    chances = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(chances, 1, generator=generator)[:, 0]
