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

from failbench.base.records import Record

Lens = Literal["surface", "fft", "compression", "hazard"]

LENSES: Final[tuple[Lens, ...]] = get_args(Lens)
"""In the order of the workflow: where, how shown, how processed, when."""

End = Literal["value", "ci_low", "ci_high"]
Relation = Literal["above", "at_least", "below", "at_most"]

_FOLDER: Final = files("failbench.neighbours.lenses").joinpath("data")


class MeasureKind(Record):
    """A number that a lens emits."""

    lens: Lens
    name: str
    title: str
    unit: str
    interval: Literal["wilson", "resampled", "fixed"]
    meaning: str


class Condition(Record):
    """What a number must be for a verdict."""

    measure: str
    end: End
    relation: Relation = Field(alias="is")
    threshold: float
    reason: str = Field(min_length=10)


class Rule(Record):
    """A verdict and what it takes: all its conditions."""

    verdict: str
    meaning: str = Field(min_length=10)
    place: str
    conditions: tuple[Condition, ...]


class Synthesis(Record):
    """What four verdicts say together."""

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
