"""Decoder: a small transformer that predicts the next token, with rotary positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from failbench.reasoning.conditions import Shape

BASE: Final = 10_000.0  # of the wave lengths of rotary positions (Su et al., 2021)
DEVIATION: Final = 0.08  # of weights at the start: wide, for states of few dimensions


@dataclass
class Cache:
    """Keys and values of read tokens by layer, of shape (rows, heads, tokens, width / heads)."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    last: Tensor | None = None

    @property
    def tokens(self) -> int:
        """Number of tokens that were read."""
        return self.keys[0].shape[2] if self.keys else 0

    def select(self, rows: Tensor) -> None:
        """Keep some of the rows."""
        self.keys = [part[rows] for part in self.keys]
        self.values = [part[rows] for part in self.values]
        self.last = None if self.last is None else self.last[rows]

    def extended(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values of a layer, with those of new tokens after those that are there."""
        if layer == len(self.keys):
            self.keys.append(key)
            self.values.append(value)
        else:
            self.keys[layer] = torch.cat([self.keys[layer], key], dim=2)
            self.values[layer] = torch.cat([self.values[layer], value], dim=2)
        return self.keys[layer], self.values[layer]


def turns(positions: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines by which states of an even size turn, each of shape (tokens, size)."""
    waves = BASE ** (-torch.arange(size // 2) / (size // 2))
    angles = (positions[:, None] * waves).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotated(states: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Turn queries or keys by their positions, so that products depend on distances alone."""
    first, second = states.chunk(2, dim=-1)
    return states * cosine + torch.cat([-second, first], dim=-1) * sine


@dataclass(frozen=True)
class Seen:
    """What tokens attend to."""

    mask: Tensor | None = None
    is_causal: bool = False


class Block(nn.Module):
    """Attention and a perceptron, each after a normalisation and beside a shortcut."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.attention_norm = nn.LayerNorm(shape.width)
        self.projections = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.output = nn.Linear(shape.width, shape.width, bias=False)
        self.perceptron_norm = nn.LayerNorm(shape.width)
        self.widening = nn.Linear(shape.width, 4 * shape.width)
        self.narrowing = nn.Linear(4 * shape.width, shape.width)

    def forward(
        self,
        hidden: Tensor,
        turn: tuple[Tensor, Tensor],
        seen: Seen,
        cache: Cache | None,
        layer: int,
    ) -> Tensor:
        """Map states of shape (rows, tokens, width) to states of that shape."""
        rows, tokens, width = hidden.shape
        projected = self.projections(self.attention_norm(hidden))
        query, key, value = (
            part.view(rows, tokens, self.heads, -1).transpose(1, 2)
            for part in projected.chunk(3, dim=-1)
        )
        query, key = rotated(query, *turn), rotated(key, *turn)
        if cache is not None:
            key, value = cache.extended(layer, key, value)
        mixed = scaled_dot_product_attention(
            query, key, value, attn_mask=seen.mask, is_causal=seen.is_causal
        )
        hidden = hidden + self.output(mixed.transpose(1, 2).reshape(rows, tokens, width))
        return hidden + self.narrowing(gelu(self.widening(self.perceptron_norm(hidden))))


class Decoder(nn.Module):
    """A decoder with one embedding for reading and writing."""

    def __init__(self, shape: Shape, tokens: int, *, is_causal: bool = True, seed: int = 0) -> None:
        super().__init__()
        self.is_causal = is_causal
        self.head_size = shape.width // shape.heads
        # A state begins with the tokens before it too, as after a short convolution: a look-up,
        # which goes by what stands before a token, is then learnt in the steps that a CPU affords.
        self.embedding, self.first_before, self.second_before = (
            nn.Embedding(tokens, shape.width) for _ in range(3)
        )
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        generator = torch.Generator().manual_seed(seed)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=DEVIATION, generator=generator)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)

    @property
    def parameter_count(self) -> int:
        """Number of trained numbers."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(
        self, ids: Tensor, cache: Cache | None = None, padding: Tensor | None = None
    ) -> Tensor:
        """Logits of the token after each one, of shape (rows, tokens, vocabulary)."""
        before = cache.tokens if cache is not None else 0
        turn = turns(torch.arange(before, before + ids.shape[1]), self.head_size)
        seen = self._seen(before, ids.shape[1], padding)
        last = ids.new_zeros(len(ids), 2) if cache is None or cache.last is None else cache.last
        known = torch.cat([last, ids], dim=1)
        if cache is not None:
            cache.last = known[:, -2:]
        hidden = (
            self.embedding(ids)
            + self.first_before(known[:, 1:-1])
            + self.second_before(known[:, :-2])
        )
        for layer, block in enumerate(self.blocks):
            hidden = block(hidden, turn, seen, cache, layer)
        return self.norm(hidden) @ self.embedding.weight.T

    def _seen(self, before: int, tokens: int, padding: Tensor | None) -> Seen:
        """What new tokens see of those that were read before and of one another."""
        if padding is None and not before:
            return Seen(is_causal=self.is_causal)
        places = torch.arange(before + tokens)
        new = places[before:]
        mask = torch.ones(1, tokens, before + tokens, dtype=torch.bool)
        if self.is_causal:
            mask = mask & (places <= new[:, None])
        if padding is not None:
            # A padded token sees itself: an attention to nothing is not a number.
            mask = mask & ((places >= padding[:, None, None]) | (places == new[:, None]))
        return Seen(mask[:, None])
