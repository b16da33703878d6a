"""Bugs of the outside list: what another project published, and how it is re-created here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import Field, model_validator

from failbench.base.records import OrNone, Record, read_rows
from failbench.base.vocabulary import Category

BUGS = "traincheck.csv"
"""The file of the list in its folder."""

REMEDY = "Restore it with git."

State = Literal["faulty", "healthy"]

STATES: Final[tuple[State, ...]] = get_args(State)
SETTING: Final = "traincheck"
"""Under which measurements are stored."""

Number = Annotated[Annotated[int, Field(ge=0)] | None, OrNone]


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
        if len({bool(self.left_out), self.ranks is None, self.onset is None}) > 1:
            raise ValueError("ranks and onset are given exactly where it is not left out")
        return self

    @property
    def is_recreated(self) -> bool:
        """Whether there is a program of it."""
        return not self.left_out


def read_bugs(path: Path) -> tuple[Bug, ...]:
    """Read the list, in the order of its file."""
    return tuple(read_rows(path, Bug, REMEDY, ("id",)))


def run_id(bug: Bug, state: State, rank: int) -> str:
    """The name of a run of one rank."""
    return f"{bug.id}_{state}_{rank}"


def run_ids(bug: Bug, state: State) -> tuple[str, ...]:
    """The names of the runs of all ranks of a bug; none where it is not re-created."""
    return tuple(run_id(bug, state, rank) for rank in range(bug.ranks or 0))
