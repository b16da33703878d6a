"""Bugs of the outside list: what another project published, and how it is re-created here."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.records import Record, validated
from failbench.base.vocabulary import Category

BUGS = "traincheck.csv"
"""The file of the list in its folder."""

REMEDY = "Restore it with git."

Number = Annotated[
    Annotated[int, Field(ge=0)] | None, BeforeValidator(lambda text: None if text == "" else text)
]


class Bug(Record):
    """A published bug; a row of ``data/outside/traincheck.csv``."""

    id: str = Field(min_length=1)
    published: str
    title: str
    root_cause: str
    component: Category
    reason: str
    ranks: Number
    onset: Number
    traincheck: str
    deviations: str
    left_out: str

    @model_validator(mode="after")
    def _is_recreated_or_left_out(self) -> Self:
        if (self.ranks is None) != bool(self.left_out) or (self.ranks is None) != (
            self.onset is None
        ):
            raise ValueError("ranks and onset are given exactly where it is not left out")
        return self

    @property
    def is_recreated(self) -> bool:
        """Whether there is a program of it."""
        return not self.left_out


def read_bugs(path: Path) -> tuple[Bug, ...]:
    """Read the list, in the order of its file."""
    bugs: dict[str, Bug] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [(reader.line_num, row) for reader in [csv.DictReader(file)] for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
    for line, row in rows:
        bug = validated(Bug, row, f"{path}, line {line}", REMEDY)
        if bug.id in bugs:
            raise BadInputError(f"{path}, line {line}", "id", f"{bug.id!r} is there twice.", REMEDY)
        bugs[bug.id] = bug
    return tuple(bugs.values())
