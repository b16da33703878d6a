"""Which exception a rule of a tool implies: ``data/exceptions.csv``."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field

from failbench.base.records import Record

Tool = Literal["pyright", "pylint"]


class Implied(Record):
    """A row of the table: if the rule is right, Python raises this."""

    tool: Tool
    rule: str = Field(min_length=1)
    exception: str = Field(pattern=r"^[A-Z]\w+$")
    reason: str = Field(min_length=1)


@cache
def implied() -> tuple[Implied, ...]:
    """The table, in its order."""
    text = files("failbench.crashes.checkers").joinpath("data/exceptions.csv").read_text("utf-8")
    return tuple(Implied.model_validate(row) for row in csv.DictReader(text.splitlines()))


@cache
def exceptions_of(tool: Tool) -> dict[str, str]:
    """Names of exceptions by rule; a rule that is not there implies none."""
    return {row.rule: row.exception for row in implied() if row.tool == tool}
