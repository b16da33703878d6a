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

from failbench.records import Record
from failbench.vocabulary import Category

Effort = Literal["minutes", "hours", "days"]
Risk = Literal["none", "low", "high"]

_FOLDER: Final = files("failbench.causes").joinpath("data")


class Remedy(Record):
    """Something to change, and how to see that it was right.

    Attributes
    ----------
    change
        What to do, as an instruction.
    why
        How it acts on the cause.
    expected
        What the metric does if it was right, with a number where there is one.
    metric
        Which metric shows it.
    verify
        How to check it.
    otherwise
        What to try, or what is known, if it does not help.
    effort
        What it takes.
    risk
        What it may spoil: ``none`` changes no result of a healthy run.
    quick
        Whether it is a change of a setting or line that can be tried at once.
    """

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
    """Something to measure that tells a cause from others.

    Attributes
    ----------
    measure
        What to do, as an instruction.
    tells
        What its result says.
    invariants
        Of the monitor, those that would tell; empty where it measures nothing of the kind.
    """

    measure: str = Field(min_length=10)
    tells: str = Field(min_length=10)
    invariants: tuple[str, ...] = ()


class Advice(Record):
    """What is known of a cause beyond its name.

    Attributes
    ----------
    mechanism
        How it makes a run fail, in one or two sentences.
    remedies
        What to change, the first choice first.
    settle
        What to measure where it is not sure.
    """

    mechanism: str = Field(min_length=20)
    remedies: tuple[Remedy, ...] = Field(min_length=1)
    settle: tuple[Measurement, ...] = Field(min_length=1)


class Cause(Record):
    """A kind of root cause.

    Attributes
    ----------
    id
        Its name.
    category
        The component that it lies in.
    title
        What is wrong, in a few words.
    """

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
