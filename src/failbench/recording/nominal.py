"""The nominal configuration: drawn by id and seed, independent of the cause, equal for a twin."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from pydantic import Field, model_validator

from failbench.scenarios import OPTIMIZERS, Optimizer, Record

Range = tuple[float, float]


class NominalRanges(Record):
    """Ranges of nominal configurations; the section ``record.nominal`` of params.yaml."""

    batch_size: tuple[int, ...] = Field(min_length=1)
    learning_rate: dict[Optimizer, Range]
    width: tuple[int, ...] = Field(min_length=1)
    sequence_length: tuple[int, ...] = Field(min_length=1)
    warmup_steps: tuple[int, int]
    clip_norm: tuple[float | None, ...] = Field(min_length=1)
    planned_steps: tuple[int, int]
    onset_step: tuple[int, int]
    capacity_multiple: Range
    distractor: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ordered(self) -> NominalRanges:
        pairs = [
            self.warmup_steps,
            self.planned_steps,
            self.onset_step,
            self.capacity_multiple,
            *self.learning_rate.values(),
        ]
        if any(low <= 0 or low > high for low, high in pairs):
            raise ValueError("every range must be positive and given as [low, high]")
        if set(self.learning_rate) != set(OPTIMIZERS):
            raise ValueError("learning_rate needs a range for each of " + ", ".join(OPTIMIZERS))
        if self.onset_step[1] + 100 > self.planned_steps[0]:
            raise ValueError(
                "onset_step must end at least 100 steps before the shortest planned_steps, "
                "so that slow failures have room"
            )
        return self


@dataclass(frozen=True)
class Nominal:
    """One drawn configuration. ``onset_step`` is used by mid-run faults only."""

    batch_size: int
    learning_rate: float
    width: int
    sequence_length: int
    warmup_steps: int
    clip_norm: float | None
    corpus_slice: int
    planned_steps: int
    onset_step: int
    capacity_multiple: float
    distractor: str
    distractor_step: int
    distractor_share: float


@dataclass(frozen=True)
class Seeds:
    """Seeds of the generators of one run; a run and its twin have the same ones."""

    nominal: int
    data: int
    model: int
    validation: int
    fault: int


def seeds_of(name: str, seed: int, draw: int = 0) -> Seeds:
    """Seeds of a scenario's id or ``success``; ``draw`` counts redraws for unhealthy twins."""
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    state = np.random.SeedSequence([digest, seed, draw]).generate_state(5, np.uint32)
    return Seeds(*(int(one) for one in state))


def draw_nominal(
    ranges: NominalRanges, optimizer: Optimizer, slices: int, generator: np.random.Generator
) -> Nominal:
    """Draw one configuration; the same seed means the same under each optimizer."""
    # So every quantity is drawn whether it is used or not, and the learning rate by its quantile.
    low, high = ranges.learning_rate[optimizer]
    quantile = generator.uniform()
    return Nominal(
        batch_size=int(generator.choice(ranges.batch_size)),
        learning_rate=float(math.exp(math.log(low) + quantile * math.log(high / low))),
        width=int(generator.choice(ranges.width)),
        sequence_length=int(generator.choice(ranges.sequence_length)),
        warmup_steps=int(generator.integers(*ranges.warmup_steps, endpoint=True)),
        clip_norm=ranges.clip_norm[generator.integers(len(ranges.clip_norm))],
        corpus_slice=int(generator.integers(slices)),
        planned_steps=int(generator.integers(*ranges.planned_steps, endpoint=True)),
        onset_step=int(generator.integers(*ranges.onset_step, endpoint=True)),
        capacity_multiple=float(round(generator.uniform(*ranges.capacity_multiple), 3)),
        distractor=str(generator.choice(ranges.distractor)),
        distractor_step=int(generator.integers(20, ranges.planned_steps[0] - 20)),
        distractor_share=float(round(generator.uniform(0.2, 0.8), 3)),
    )
