"""Causes: the kinds of root causes that a diagnosis names, and what mends each.

``data/causes.csv`` names them, ``data/remedies.json`` says what to change. Several scenarios of the
benchmark may be of one cause (``data/scenarios.csv``), and some causes have none: messages of
libraries point at them. What speaks for a cause is in ``support`` and ``places`` beside this.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from pydantic import Field, TypeAdapter

from failbench.base.records import Record
from failbench.base.vocabulary import Category

Effort = Literal["minutes", "hours", "days"]
Risk = Literal["none", "low", "high"]

_FOLDER: Final = files("failbench.causes").joinpath("data")


class Remedy(Record):
    """Something to change, and how to see that it was right."""

    change: str = Field(min_length=10)
    why: str = Field(min_length=10)
    expected: str = Field(min_length=10)
    metric: str
    verify: str = Field(min_length=10)
    otherwise: str = Field(min_length=10)
    effort: Effort
    risk: Risk
    quick: bool


class Measurement(Record):
    """Something to measure that tells a cause from others."""

    measure: str = Field(min_length=10)
    tells: str = Field(min_length=10)
    invariants: tuple[str, ...] = ()


class Advice(Record):
    """What is known of a cause beyond its name."""

    mechanism: str = Field(min_length=20)
    remedies: tuple[Remedy, ...] = Field(min_length=1)
    settle: tuple[Measurement, ...] = Field(min_length=1)


class Cause(Record):
    """A kind of root cause."""

    id: str
    category: Category
    title: str


@cache
def causes() -> dict[str, Cause]:
    """All causes by their names, in the order of categories."""
    text = _FOLDER.joinpath("causes.csv").read_text(encoding="utf-8")
    return {row["id"]: Cause(**row) for row in csv.DictReader(text.splitlines())}


@cache
def advice() -> dict[str, Advice]:
    """What is known of each cause, by its name."""
    text = _FOLDER.joinpath("remedies.json").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Advice]).validate_json(text)


@cache
def cause_of_scenario() -> dict[str, str]:
    """The cause of each scenario of the benchmark."""
    text = _FOLDER.joinpath("scenarios.csv").read_text(encoding="utf-8")
    return {row["scenario"]: row["cause"] for row in csv.DictReader(text.splitlines())}
