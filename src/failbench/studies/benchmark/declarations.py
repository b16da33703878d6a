"""Declarations: what the tables say and no code does, each a file of data beside this module."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BeforeValidator, Field

from failbench.errors import BadInputError
from failbench.methods.catalogue import ENTRIES, Source
from failbench.records import Record
from failbench.validation import kept_by_hand
from failbench.vocabulary import Category

FOLDER: Final = "src/failbench/studies/benchmark/data"

Text = Annotated[str, Field(min_length=1)]
Extent = Literal["complete", "high"]
"""Two and three marks of the original's Table 9."""

Paths = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    BeforeValidator(lambda text: text.split("; ") if isinstance(text, str) else text),
]


class MethodFacts(Record):
    """What a reader of a method must know; a row of ``methods.csv``."""

    method: Text
    learnt_from: Text
    abstains: Text
    readable: Text


class CategoryTransfer(Record):
    """What the original expects of a category elsewhere; a row of ``transfer.csv``."""

    category: Category
    ssm: Extent
    cnn: Extent
    cnn_table_7: Literal["high", "medium"]
    vit: Extent
    stability: Literal["complete", "high", "moderate"]
    reason: Text


class DataTransfer(Record):
    """A failure of the data of transformers and its like in convolutional networks (Table 8)."""

    transformer: Text
    cnn: Text


class SignalTransfer(Record):
    """What the original expects a signal to tell elsewhere, from the text of its section 8.9."""

    signal: Text
    ssm: Text
    cnn: Text


class Question(Record):
    """A question of the checklist; a row of ``checklist.csv``."""

    part: Literal["Models", "Data", "Code", "Results"]
    question: Text
    answer: Text
    where: Paths


class Box(Record):
    """A box of the workflow."""

    id: Text
    title: Text
    text: str = ""
    share: float = Field(default=1.0, gt=0)
    sources: tuple[Source, ...] = ()
    methods: tuple[str, ...] = ()


class Workflow(Record):
    """Boxes by row from top to bottom, and arrows that the catalogue of methods does not give."""

    rows: tuple[tuple[Box, ...], ...] = Field(min_length=2)
    arrows: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All boxes, row by row."""
        return tuple(box for row in self.rows for box in row)


Declared = TypeVar("Declared", bound=Record)


def parsed(model: type[Declared], name: str, text: str) -> tuple[Declared, ...]:
    """Read the rows of a declaration."""
    return tuple(
        kept_by_hand(model, row, f"{FOLDER}/{name}, row {number}")
        for number, row in enumerate(csv.DictReader(text.splitlines()), start=1)
    )


def _text(name: str) -> str:
    return files("failbench.studies.benchmark").joinpath(f"data/{name}").read_text("utf-8")


@cache
def methods_facts() -> dict[str, MethodFacts]:
    """What is said of methods; of one that was just added to the catalogue nothing is yet."""
    name = "methods.csv"
    facts = {row.method: row for row in parsed(MethodFacts, name, _text(name))}
    _refuse_unknown(facts, name)
    return facts


@cache
def category_transfer() -> tuple[CategoryTransfer, ...]:
    """Tables 7 and 9 of the original."""
    return parsed(CategoryTransfer, "transfer.csv", _text("transfer.csv"))


@cache
def data_transfer() -> tuple[DataTransfer, ...]:
    """Table 8 of the original."""
    return parsed(DataTransfer, "transfer_data.csv", _text("transfer_data.csv"))


@cache
def signal_transfer() -> tuple[SignalTransfer, ...]:
    """What the original's section 8.9 says of signals."""
    return parsed(SignalTransfer, "transfer_signals.csv", _text("transfer_signals.csv"))


@cache
def checklist() -> tuple[Question, ...]:
    """The questions of the checklist, in order."""
    return parsed(Question, "checklist.csv", _text("checklist.csv"))


@cache
def workflow() -> Workflow:
    """The boxes and arrows of the workflow."""
    name = "workflow.json"
    declared = kept_by_hand(Workflow, json.loads(_text(name)), f"{FOLDER}/{name}")
    drawn = (method for box in declared.boxes for method in box.methods)
    _refuse_unknown((*drawn, *declared.left_out), name)
    return declared


def _refuse_unknown(methods: Iterable[str], name: str) -> None:
    for method in methods:
        if method not in ENTRIES:
            raise BadInputError(
                f"{FOLDER}/{name}",
                "method",
                f"{method!r} is not in the catalogue of methods.",
                "Name it as failbench.methods.catalogue does.",
            )
