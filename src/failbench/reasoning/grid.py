"""Grid: the cells of each task by length and depth, and the problems of cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from failbench.errors import BadInputError
from failbench.reasoning import arithmetic, brackets, paths
from failbench.reasoning.problems import Problem
from failbench.records import Record

DRAWS: Final = 100  # for each problem that is wanted, as one may be there already
Task = Literal["arithmetic", "brackets", "paths"]

# what draws a problem of a task, given its length and depth
MAKERS: Final = MappingProxyType[Task, Callable[[np.random.Generator, int, int], Problem]](
    {
        "arithmetic": arithmetic.problem,
        "brackets": brackets.problem,
        "paths": paths.problem,
    }
)

# whether a task has problems of a length and depth
POSSIBLE: Final = MappingProxyType[Task, Callable[[int, int], bool]](
    {
        "arithmetic": arithmetic.is_possible,
        "brackets": brackets.is_possible,
        "paths": paths.is_possible,
    }
)


class Cell(Record):
    """One difficulty of a task; a row of ``grid.csv``."""

    task: Task
    length: int = Field(gt=0)
    depth: int = Field(gt=0)
    trained: bool

    @model_validator(mode="after")
    def _has_problems(self) -> Self:
        if not POSSIBLE[self.task](self.length, self.depth):
            raise ValueError(
                f"{self.task} has no problems of length {self.length} and depth {self.depth}"
            )
        return self


def problems_of(cell: Cell, items: int, seed: int) -> tuple[Problem, ...]:
    """The problems of a cell, by its coordinates and the seed; fewer are the first of more."""
    coordinates = {"task": cell.task, "length": cell.length, "depth": cell.depth}
    digest = hashlib.sha256(json.dumps(coordinates, sort_keys=True).encode()).hexdigest()
    random = np.random.default_rng([seed, int(digest[:16], 16)])
    drawn: dict[str, Problem] = {}
    for _ in range(items * DRAWS):
        problem = MAKERS[cell.task](random, cell.length, cell.depth)
        drawn.setdefault(problem.prompt, problem)
        if len(drawn) == items:
            return tuple(drawn.values())
    place = f"{cell.task} of length {cell.length} and depth {cell.depth}"
    problem_text = f"has only {len(drawn)} problems, and {items} are wanted."
    raise BadInputError(place, "items", problem_text, "Ask for fewer, or leave out the cell.")


def stream(
    cells: Iterable[Cell],
    mixture: Mapping[Task, int],
    random: np.random.Generator,
    held_out: frozenset[str] = frozenset(),
) -> Iterator[tuple[Task, Problem]]:
    """Problems without end, with their task, of the cells that are trained."""
    trained = [cell for cell in cells if cell.trained]
    by_task = {task: [cell for cell in trained if cell.task == task] for task in mixture}
    tickets = [task for task, times in mixture.items() for _ in range(times) if by_task[task]]
    while True:
        choice = by_task[tickets[int(random.integers(len(tickets)))]]
        cell = choice[int(random.integers(len(choice)))]
        problem = MAKERS[cell.task](random, cell.length, cell.depth)
        if problem.prompt not in held_out:
            yield cell.task, problem
