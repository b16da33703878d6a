"""Conditions: what is done to models, and what they are trained with where nothing is."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, NonNegativeInt, model_validator

from failbench.reasoning.grid import Task
from failbench.records import Record


class Shape(Record):
    """The size of a decoder; ``heads`` divides ``width`` into even parts."""

    width: int = Field(gt=0)
    layers: int = Field(gt=0)
    heads: int = Field(gt=0)

    @model_validator(mode="after")
    def _parts_are_even(self) -> Self:
        if self.width % (2 * self.heads):
            raise ValueError("heads must divide width into parts of an even size")
        return self


class Settings(Record):
    """What all models have in common; ``settings.json``."""

    shape: Shape
    batch: int = Field(gt=0)
    steps: int = Field(gt=0)
    learning_rate: float = Field(gt=0)
    warmup: int = Field(gt=0)
    decay: float = Field(gt=0, lt=1)
    weight_decay: float = Field(ge=0)
    clip: float = Field(gt=0)
    temperature: float = Field(gt=0)
    budget: int = Field(gt=0)
    items: int = Field(gt=0)
    problem_seed: int = Field(ge=0)
    seeds: tuple[int, ...] = Field(min_length=1)
    mixture: Mapping[Task, NonNegativeInt]

    @model_validator(mode="after")
    def _something_is_trained(self) -> Self:
        if not any(self.mixture.values()):
            raise ValueError("mixture must draw some task")
        return self


class Condition(Record):
    """What is done to a model; a row of ``conditions.csv``."""

    condition: str = Field(min_length=1)
    tokenizer: str
    prompt_tokenizer: str
    steps: float = Field(gt=0, le=1)
    rate: float = Field(gt=0)
    context: int = Field(gt=1)
    is_causal: bool
    shuffled: float = Field(ge=0, le=1)
    looped: float = Field(ge=0, le=1)
    what: str = Field(min_length=1)

    def model(self, seed: int) -> str:
        """The name of the model of a seed."""
        return f"{self.condition}-{self.tokenizer}-{seed}"
