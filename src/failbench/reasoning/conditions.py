"""Conditions: what is done to models, and what they are trained with where nothing is."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Self

from pydantic import Field, ValidationError, model_validator

from failbench.errors import BadInputError
from failbench.reasoning.grid import csv_rows
from failbench.records import Record
from failbench.validation import validated

CONDITIONS: Final = "conditions.csv"
SETTINGS: Final = "settings.json"
"""The files of conditions and settings in their folder."""

HEALTHY: Final = "healthy"

REMEDY: Final = "Restore it with git, or correct it after failbench.reasoning.conditions."


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
    """What all models have in common.

    Attributes
    ----------
    batch
        Examples of a step.
    steps
        Of the whole schedule: linear warm-up, a constant rate, and a linear decay to zero.
    warmup
        Steps until the learning rate is reached.
    decay
        Share of the steps, the last, in which it decays.
    clip
        Largest norm of the gradients.
    temperature
        Of sampling.
    budget
        Tokens that are generated at most.
    items
        Problems of each cell.
    problem_seed
        Of the problems that models are tested with.
    seeds
        Of training: weights, examples, and the sampling of answers.
    """

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


class Condition(Record):
    """What is done to a model; a row of the file.

    Attributes
    ----------
    condition
        Its name.
    tokenizer, prompt_tokenizer
        With which the model is trained, and with which the prompts of the test are encoded.
    steps
        Share of the steps after which training stops.
    rate
        By which the learning rate is multiplied.
    context
        Tokens after which an example is cut in training, prompt included.
    is_causal
        Whether the attention has its mask.
    shuffled
        Share of the examples that have the response of another example of their task.
    looped
        Share of the examples in which a step of the scratchpad, drawn at random, repeats until the
        context is full.
    what
        What is done, in a sentence.
    """

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


def read_conditions(path: Path, tokenizers: frozenset[str]) -> tuple[Condition, ...]:
    """Read the conditions, in the order of their file.

    Parameters
    ----------
    tokenizers
        The names that a row may have.

    Raises
    ------
    BadInputError
        If the file is missing or not CSV, a column is missing or unknown, a value is out of its
        domain, or a condition is there twice with one tokenizer.
    """
    conditions: dict[tuple[str, str], Condition] = {}
    for line, row in csv_rows(path):
        place = f"{path}, line {line}"
        condition = validated(Condition, row, place, REMEDY)
        for field in ("tokenizer", "prompt_tokenizer"):
            name = getattr(condition, field)
            if name not in tokenizers:
                known = f"Name one of {', '.join(sorted(tokenizers))}."
                raise BadInputError(place, field, f"{name!r} is no tokenizer.", known)
        key = (condition.condition, condition.tokenizer)
        if key in conditions:
            problem = f"{' with '.join(key)} is there twice."
            raise BadInputError(place, "condition", problem, REMEDY)
        conditions[key] = condition
    return tuple(conditions.values())


def read_settings(path: Path) -> Settings:
    """Read what all models have in common.

    Raises
    ------
    BadInputError
        If the file is missing or not JSON, or has a key that is unknown, missing or out of its
        domain.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return Settings.model_validate_json(text)
    except (OSError, UnicodeError) as error:
        raise BadInputError(path, "(file)", f"cannot be read ({error}).", REMEDY) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(file)"
        raise BadInputError(path, field, f"{first['msg']}.", REMEDY) from error
