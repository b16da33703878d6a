"""Runs of the outside list: their names, and which there are of a bug."""

from __future__ import annotations

from typing import Final, Literal, get_args

from failbench.neighbours.outside_list.bugs import Bug

State = Literal["faulty", "healthy"]

STATES: Final[tuple[State, ...]] = get_args(State)
SETTING: Final = "traincheck"
"""Under which measurements are stored."""


def run_id(bug: Bug, state: State, rank: int) -> str:
    """The name of a run of one rank."""
    return f"{bug.id}_{state}_{rank}"


def run_ids(bug: Bug, state: State) -> tuple[str, ...]:
    """The names of the runs of all ranks of a bug; none where it is not re-created."""
    return tuple(run_id(bug, state, rank) for rank in range(bug.ranks or 0))
