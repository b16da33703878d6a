"""Known: logs whose causes are known, and what is tried where a model is fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from failbench.base.arrays import Array
from failbench.base.records import Record
from failbench.base.vocabulary import Category
from failbench.diagnose.signs import Sign
from failbench.diagnose.words import Counted


@dataclass(frozen=True)
class KnownLog:
    """A log, and what is known of its run.

    Attributes
    ----------
    signs
        What is in it.
    category
        Of its cause; None of a healthy run.
    cause
        Id of the catalogue; None where it has none.
    scenario
        What weighs one, however many logs it has.
    setting
        Whose healthy logs have bounds of their own.
    group
        What is left out together: a scenario, or all that one author or owner wrote.
    words
        Pieces of its text.
    teaches_words
        Whether its text was written by people and libraries, and by no formatter of ours.
    """

    signs: tuple[Sign, ...]
    category: Category | None
    cause: str | None
    scenario: str
    setting: str
    group: str
    words: Counted
    teaches_words: bool = False


class Said(NamedTuple):
    """A message of the catalogue as its library prints it, its category and its first cause."""

    words: Counted
    category: Category | None
    cause: str


class Choices(Record):
    """What is tried, and what decides."""

    penalties: tuple[Annotated[float, Field(gt=0)], ...] = Field(min_length=1)
    shared_penalty: float = Field(gt=0)
    margins: tuple[Annotated[float, Field(gt=-1)], ...] = Field(min_length=1)
    most_alarmed: float = Field(gt=0, lt=1)
    words_c: float = Field(gt=0)
    message_weight: float = Field(gt=0)
    inner_folds: int = Field(ge=2)
    seed: int = Field(ge=0)


def one_each(logs: Sequence[KnownLog]) -> Array:
    """Weights of logs: all of a scenario together weigh one."""
    _, places, counts = np.unique(
        [log.scenario for log in logs], return_inverse=True, return_counts=True
    )
    weights: Array = 1.0 / counts[places]
    return weights
