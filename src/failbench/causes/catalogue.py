"""Causes: the kinds of root causes that a diagnosis names, and what mends each.

``data/causes.csv`` names them, ``data/remedies.json`` says what to change. Several scenarios of the
benchmark may be of one cause (``data/scenarios.csv``), and some causes have none: messages of
libraries point at them. What speaks for a cause is in ``support`` and ``places`` beside this.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from failbench.base.records import InCell, Record, packaged_rows
from failbench.base.vocabulary import Category

Effort = Literal["minutes", "hours", "days"]
Risk = Literal["none", "low", "high"]


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


class _Scenario(Record):
    scenario: str
    cause: str


@cache
def causes() -> dict[str, Cause]:
    """All causes by their names, in the order of categories."""
    return {row.id: row for row in packaged_rows("failbench.causes", "causes.csv", Cause)}


@cache
def advice() -> dict[str, Advice]:
    """What is known of each cause, by its name."""
    text = files("failbench.causes").joinpath("data/remedies.json").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Advice]).validate_json(text)


@cache
def cause_of_scenario() -> dict[str, str]:
    """The cause of each scenario of the benchmark."""
    rows = packaged_rows("failbench.causes", "scenarios.csv", _Scenario)
    return {row.scenario: row.cause for row in rows}


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := set(names) - set(causes()):
        raise ValueError(f"{min(unknown)!r} is no cause.")
    return names


CauseNames = Annotated[tuple[str, ...], InCell, AfterValidator(_known)]
"""Causes of the catalogue in a cell of a table, the most likely first."""
