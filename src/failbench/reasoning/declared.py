"""Declared: everything that a recording of reasoning is made from, read from one folder."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from failbench.base.records import validated
from failbench.errors import BadInputError
from failbench.reasoning.conditions import Condition, Settings
from failbench.reasoning.grid import MAKERS, Cell, problems_of
from failbench.reasoning.problems import Problem
from failbench.reasoning.tokenizers import Declaration

GRID: Final = "grid.csv"
SETTINGS: Final = "settings.json"
TOKENIZERS: Final = "tokenizers.csv"
CONDITIONS: Final = "conditions.csv"
"""The files of a folder."""

REMEDY: Final = "Restore it with git, or correct it after the records in failbench.reasoning."


@dataclass(frozen=True)
class Planned:
    """A model to be trained and asked."""

    condition: Condition
    seed: int

    @property
    def name(self) -> str:
        """As traces name it."""
        return self.condition.model(self.seed)


@dataclass(frozen=True)
class Declared:
    """The grid, the settings, the tokenizers by name, and the conditions."""

    cells: tuple[Cell, ...]
    settings: Settings
    tokenizers: Mapping[str, Declaration]
    conditions: tuple[Condition, ...]

    @property
    def plan(self) -> tuple[Planned, ...]:
        """Every model: a seed of each condition, then the next."""
        return tuple(
            Planned(condition, seed)
            for seed in self.settings.seeds
            for condition in self.conditions
        )

    @cached_property
    def problems(self) -> tuple[tuple[Cell, int, Problem], ...]:
        """What every model is asked: cell, number in it, and problem."""
        settings = self.settings
        return tuple(
            (cell, item, problem)
            for cell in self.cells
            for item, problem in enumerate(problems_of(cell, settings.items, settings.problem_seed))
        )

    @property
    def held_out(self) -> frozenset[str]:
        """Prompts of the test, which are not trained on."""
        return frozenset(problem.prompt for _, _, problem in self.problems)


def read_declared(folder: Path) -> Declared:
    """Read what a recording is made from."""
    tokenizers = {each.name: each for each in read_tokenizers(folder / TOKENIZERS)}
    return Declared(
        read_grid(folder / GRID),
        read_settings(folder / SETTINGS),
        tokenizers,
        read_conditions(folder / CONDITIONS, frozenset(tokenizers)),
    )


def read_grid(path: Path) -> tuple[Cell, ...]:
    """Read the cells, in the order of their file."""
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


def read_tokenizers(path: Path) -> tuple[Declaration, ...]:
    """Read how tokenizers are made, in the order of their file."""
    declarations: dict[str, Declaration] = {}
    for line, row in csv_rows(path):
        declaration = validated(Declaration, row, f"{path}, line {line}", REMEDY)
        if declaration.name in declarations:
            raise BadInputError(
                f"{path}, line {line}", "name", f"{declaration.name!r} is there twice.", REMEDY
            )
        declarations[declaration.name] = declaration
    return tuple(declarations.values())


def read_conditions(path: Path, tokenizers: frozenset[str]) -> tuple[Condition, ...]:
    """Read the conditions, in the order of their file."""
    conditions: dict[tuple[str, str], Condition] = {}
    for line, row in csv_rows(path):
        place = f"{path}, line {line}"
        condition = validated(Condition, row, place, REMEDY)
        for field in ("tokenizer", "prompt_tokenizer"):
            name = getattr(condition, field)
            if name not in tokenizers:
                known = f"Name one of {', '.join(sorted(tokenizers))}."
                raise BadInputError(place, field, f"{name!r} is no tokenizer.", known)
        key = (condition.condition, condition.tokenizer)
        if key in conditions:
            problem = f"{' with '.join(key)} is there twice."
            raise BadInputError(place, "condition", problem, REMEDY)
        conditions[key] = condition
    return tuple(conditions.values())


def read_settings(path: Path) -> Settings:
    """Read what all models have in common."""
    try:
        text = path.read_text(encoding="utf-8")
        return Settings.model_validate_json(text)
    except (OSError, UnicodeError) as error:
        raise BadInputError(path, "(file)", f"cannot be read ({error}).", REMEDY) from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "(file)"
        raise BadInputError(path, field, f"{first['msg']}.", REMEDY) from error


def csv_rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with their line numbers."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            return [(reader.line_num, row) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
