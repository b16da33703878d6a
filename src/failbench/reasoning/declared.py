"""Declared: everything that a recording of reasoning is made from, read from one folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from failbench.reasoning.conditions import (
    CONDITIONS,
    SETTINGS,
    Condition,
    Settings,
    read_conditions,
    read_settings,
)
from failbench.reasoning.grid import GRID, Cell, problems_of, read_grid
from failbench.reasoning.problems import Problem
from failbench.reasoning.tokenizers import TOKENIZERS, Declaration, read_tokenizers


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
    """Read what a recording is made from.

    Raises
    ------
    BadInputError
        If a file is missing or broken, or one does not fit the others.
    """
    tokenizers = {each.name: each for each in read_tokenizers(folder / TOKENIZERS)}
    return Declared(
        read_grid(folder / GRID),
        read_settings(folder / SETTINGS),
        tokenizers,
        read_conditions(folder / CONDITIONS, frozenset(tokenizers)),
    )
