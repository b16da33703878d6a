"""Grid: the cells of each task by length and depth, and the problems of a cell."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from pydantic import Field

from failbench.errors import BadInputError
from failbench.reasoning import arithmetic, brackets, paths
from failbench.reasoning.problems import Problem
from failbench.records import Record
from failbench.validation import validated

GRID: Final = "grid.csv"
"""The file of the cells in its folder."""

REMEDY: Final = "Restore it with git, or correct it after failbench.reasoning.grid.Cell."

Task = Literal["arithmetic", "brackets", "paths"]

MAKERS: Final = MappingProxyType[Task, Callable[[np.random.Generator, int, int], Problem]](
    {
        "arithmetic": arithmetic.problem,
        "brackets": brackets.problem,
        "paths": paths.problem,
    }
)
"""What draws a problem of a task, given its length and depth."""


class Cell(Record):
    """One difficulty of a task; a row of the file.

    Attributes
    ----------
    length, depth
        As the module of the task says.
    trained
        Whether models are trained on it. All cells are tested.
    """

    task: Task
    length: int = Field(gt=0)
    depth: int = Field(gt=0)
    trained: bool


def read_grid(path: Path) -> tuple[Cell, ...]:
    """Read the cells, in the order of their file.

    Raises
    ------
    BadInputError
        If the file is missing or not CSV, a column is missing or unknown, a value is out of its
        domain, a cell is there twice, or a task has no cell that is trained.
    """
    cells: dict[tuple[str, int, int], Cell] = {}
    for line, row in csv_rows(path):
        cell = validated(Cell, row, f"{path}, line {line}", REMEDY)
        key = (cell.task, cell.length, cell.depth)
        if key in cells:
            raise BadInputError(
                f"{path}, line {line}", "task", f"the cell {key} is there twice.", REMEDY
            )
        cells[key] = cell
    for task in MAKERS:
        if not any(cell.trained for cell in cells.values() if cell.task == task):
            raise BadInputError(path, "trained", f"no cell of {task} is trained.", REMEDY)
    return tuple(cells.values())


def csv_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with their line numbers.

    Raises
    ------
    BadInputError
        If the file is missing or not CSV.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            return [(reader.line_num, row) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error


def problems_of(cell: Cell, items: int, seed: int) -> tuple[Problem, ...]:
    """Draw the problems of a cell, all with other prompts.

    They depend on the cell's coordinates and the seed alone, and fewer of them are the first of
    more: whoever asks has the same problems.
    """
    coordinates = {"task": cell.task, "length": cell.length, "depth": cell.depth}
    digest = hashlib.sha256(json.dumps(coordinates, sort_keys=True).encode()).hexdigest()
    random = np.random.default_rng([seed, int(digest[:16], 16)])
    drawn: dict[str, Problem] = {}
    while len(drawn) < items:
        problem = MAKERS[cell.task](random, cell.length, cell.depth)
        drawn.setdefault(problem.prompt, problem)
    return tuple(drawn.values())


def stream(
    cells: Iterable[Cell], random: np.random.Generator, held_out: frozenset[str] = frozenset()
) -> Iterator[tuple[Task, Problem]]:
    """Problems without end, with their task.

    A task is as likely as another, and so is each of its cells.

    Parameters
    ----------
    held_out
        Prompts that are left out.
    """
    by_task: dict[Task, list[Cell]] = {}
    for cell in cells:
        by_task.setdefault(cell.task, []).append(cell)
    tasks = sorted(by_task)
    while True:
        choice = by_task[tasks[int(random.integers(len(tasks)))]]
        cell = choice[int(random.integers(len(choice)))]
        problem = MAKERS[cell.task](random, cell.length, cell.depth)
        if problem.prompt not in held_out:
            yield cell.task, problem
