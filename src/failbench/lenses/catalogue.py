"""Catalogue of the lenses: their numbers, the rules of their verdicts and the joint hypotheses.

All of it is data: ``data/measures.csv`` says what each number is, ``data/rules.json`` which verdict
follows from which numbers, with the threshold and its reason, and ``data/syntheses.json`` what four
verdicts say together. The terms are those of a published workflow for the diagnosis of reasoning,
whose places the files name; it leaves every threshold to the eye.
"""

from __future__ import annotations

import csv
import json
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from pydantic import Field, TypeAdapter

from failbench.records import Record

Lens = Literal["surface", "fft", "compression", "hazard"]

LENSES: Final[tuple[Lens, ...]] = get_args(Lens)
"""In the order of the workflow: where, how shown, how processed, when."""

End = Literal["value", "ci_low", "ci_high"]
Relation = Literal["above", "at_least", "below", "at_most"]

_FOLDER: Final = files("failbench.lenses").joinpath("data")


class MeasureKind(Record):
    """A number that a lens emits.

    Attributes
    ----------
    lens, name
        Whose, and what it is called.
    title
        For people.
    unit
        What it is counted in.
    interval
        ``wilson`` for shares of answers, ``resampled`` for all that is resampled, ``fixed`` for
        what the sample sets.
    meaning
        How it is computed, in words.
    """

    lens: Lens
    name: str
    title: str
    unit: str
    interval: Literal["wilson", "resampled", "fixed"]
    meaning: str


class Condition(Record):
    """What a number must be for a verdict.

    Attributes
    ----------
    measure
        Which number.
    end
        The number itself, or an end of its interval.
    relation
        How it compares with the threshold.
    threshold
        In the unit of the number.
    reason
        Why there.
    """

    measure: str
    end: End
    relation: Relation = Field(alias="is")
    threshold: float
    reason: str = Field(min_length=10)


class Rule(Record):
    """A verdict and what it takes: all its conditions.

    Attributes
    ----------
    verdict
        Its name.
    meaning
        What it says, in a sentence.
    place
        Where the workflow describes it; empty for a verdict of our own.
    conditions
        None for the verdict that is left.
    """

    verdict: str
    meaning: str = Field(min_length=10)
    place: str
    conditions: tuple[Condition, ...]


class Synthesis(Record):
    """What four verdicts say together.

    Attributes
    ----------
    id
        Its name.
    surface, fft, compression, hazard
        Verdicts of each lens that fit; none means that any does.
    hypothesis
        Why the model fails, in a sentence.
    action
        What to try.
    place
        Where the workflow has it.
    """

    id: str
    surface: tuple[str, ...]
    fft: tuple[str, ...]
    compression: tuple[str, ...]
    hazard: tuple[str, ...]
    hypothesis: str = Field(min_length=10)
    action: str = Field(min_length=10)
    place: str


@cache
def measure_kinds() -> dict[Lens, dict[str, MeasureKind]]:
    """The numbers of each lens by their names, in their order."""
    text = _FOLDER.joinpath("measures.csv").read_text(encoding="utf-8")
    kinds = [MeasureKind.model_validate(row) for row in csv.DictReader(text.splitlines())]
    return {lens: {kind.name: kind for kind in kinds if kind.lens == lens} for lens in LENSES}


@cache
def rules() -> dict[Lens, tuple[Rule, ...]]:
    """The rules of each lens; the first whose conditions all hold gives the verdict."""
    text = _FOLDER.joinpath("rules.json").read_text(encoding="utf-8")
    return TypeAdapter(dict[Lens, tuple[Rule, ...]]).validate_python(json.loads(text))


@cache
def syntheses() -> tuple[Synthesis, ...]:
    """The joint hypotheses; the first that fits is the one."""
    text = _FOLDER.joinpath("syntheses.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Synthesis, ...]).validate_python(json.loads(text))
