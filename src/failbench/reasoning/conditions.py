"""Conditions of models, and all else that a recording of reasoning is made from, in one folder."""

import ast
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final, Self

from pydantic import Field, NonNegativeInt, model_validator

from failbench.base.records import Record, read_json, read_rows, validated
from failbench.errors import BadInputError
from failbench.reasoning.grid import MAKERS, Cell, Task, problems_of
from failbench.reasoning.problems import Problem
from failbench.reasoning.tokenizers import Declaration


class Shape(Record):
    """The size of a decoder; ``heads`` divides ``width`` into even parts."""

    width: int = Field(gt=0)
    layers: int = Field(gt=0)
    heads: int = Field(gt=0)

    @model_validator(mode="after")
    def _parts_are_even(self) -> Self:
        if self.width % (2 * self.heads):
            raise ValueError("heads must divide width into parts of an even size")
        return self


class Settings(Record):
    """What all models have in common; ``settings.json``."""

    shape: Shape
    batch: int = Field(gt=0)
    steps: int = Field(gt=0)
    learning_rate: float = Field(gt=0)
    warmup: int = Field(gt=0)
    decay: float = Field(gt=0, lt=1)
    weight_decay: float = Field(ge=0)
    clip: float = Field(gt=0)
    temperature: float = Field(gt=0)
    budget: int = Field(gt=0)
    items: int = Field(gt=0)
    problem_seed: int = Field(ge=0)
    seeds: tuple[int, ...] = Field(min_length=1)
    mixture: Mapping[Task, NonNegativeInt]

    @model_validator(mode="after")
    def _something_is_trained(self) -> Self:
        if not any(self.mixture.values()):
            raise ValueError("mixture must draw some task")
        return self


class Condition(Record):
    """What is done to a model; a row of ``conditions.csv``."""

    condition: str = Field(min_length=1)
    tokenizer: str
    prompt_tokenizer: str
    steps: float = Field(gt=0, le=1)
    rate: float = Field(gt=0)
    context: int = Field(gt=1)
    is_causal: bool
    shuffled: float = Field(ge=0, le=1)
    looped: float = Field(ge=0, le=1)
    what: str = Field(min_length=1)


GRID: Final = "grid.csv"
SETTINGS: Final = "settings.json"
TOKENIZERS: Final = "tokenizers.csv"
CONDITIONS: Final = "conditions.csv"  # the files of a folder
REMEDY: Final = "Restore it with git, or correct it after the records in failbench.reasoning."


@dataclass(frozen=True)
class Planned:
    """A model to be trained and asked."""

    condition: Condition
    seed: int

    @property
    def name(self) -> str:
        """As traces name it."""
        return f"{self.condition.condition}-{self.condition.tokenizer}-{self.seed}"


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
    declarations = read_rows(folder / TOKENIZERS, Declaration, REMEDY, ("name",))
    tokenizers = {each.name: each for each in declarations}
    return Declared(
        read_grid(folder / GRID),
        read_settings(folder / SETTINGS),
        tokenizers,
        read_conditions(folder / CONDITIONS, tokenizers),
    )


def read_grid(path: Path) -> tuple[Cell, ...]:
    """Read the cells, in the order of their file."""
    cells = tuple(read_rows(path, Cell, REMEDY, ("task", "length", "depth")))
    for task in MAKERS:
        if not any(cell.trained for cell in cells if cell.task == task):
            raise BadInputError(path, "trained", f"no cell of {task} is trained.", REMEDY)
    return cells


def read_conditions(path: Path, tokenizers: Collection[str]) -> tuple[Condition, ...]:
    """Read the conditions, in the order of their file."""
    known = f"Name one of {', '.join(sorted(tokenizers))}."
    conditions = read_rows(path, Condition, REMEDY, ("condition", "tokenizer"))
    for line, condition in enumerate(conditions, start=2):
        for field in ("tokenizer", "prompt_tokenizer"):
            name = getattr(condition, field)
            if name not in tokenizers:
                problem = f"{name!r} is no tokenizer."
                raise BadInputError(f"{path}, line {line}", field, problem, known)
    return tuple(conditions)


def read_settings(path: Path) -> Settings:
    """Read what all models have in common."""
    return validated(Settings, read_json(path, REMEDY), path, REMEDY)


# what is executed from a problem to its trace
MODULES: Final = (
    *("arithmetic", "brackets", "examples", "grading", "grid", "model", "paths", "problems"),
    *("sampling", "tokenizers", "training"),
)
DIGITS: Final = 16


def fingerprint(declared: Declared, planned: Planned) -> str:
    """The hash of a model: its condition and seed, what all have in common, and the code."""
    condition = planned.condition
    tokenizers = (condition.tokenizer, condition.prompt_tokenizer)
    parts = [
        condition.model_dump(mode="json", exclude={"what"}),
        planned.seed,
        declared.settings.model_dump(mode="json", exclude={"seeds"}),
        [cell.model_dump(mode="json") for cell in declared.cells],
        [declared.tokenizers[name].model_dump(mode="json") for name in tokenizers],
        [_code(Path(__file__).with_name(f"{name}.py")) for name in MODULES],
    ]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


@cache
def _code(path: Path) -> str:
    """The syntax tree of a module, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
