"""The corpus: pairs of notebooks as executed, their split, and what was observed of kernels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar, get_args

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_json, read_rows, validated
from failbench.base.replay import AnswerTable

Library = Literal["numpy", "pandas", "sklearn", "matplotlib", "lightgbm", "torch"]
Version = Literal["crashing", "mended"]
Difficulty = Literal["easy", "medium", "hard"]
# what is misused; ``docs/notebooks.md`` defines each
Misuse = Literal[
    "shape", "dtype", "key", "unfitted", "nan", "api", "value", "index", "name", "device",
    "vocabulary", "memory",
]  # fmt: skip

LIBRARIES: Final[tuple[Library, ...]] = get_args(Library)
VERSIONS: Final[tuple[Version, ...]] = get_args(Version)
SPLIT: Final = "split.csv"  # the file in the folder of the corpus
DRAWN_ONCE: Final = "Restore it with git: the split was drawn once."
Part = Literal["development", "test"]
CARD: Final = "failbench"  # key of the metadata of a notebook that holds its card
EXECUTIONS: Final = "executions"  # key of the metadata of a cell that was executed more than once
FAR: Final = 3  # steps from which on a crash is hard even where the code alone shows it
REMEDY: Final = "Restore it with git, or correct it after docs/notebooks.md."


class AnyCard(Record):
    """What notebooks of pairs of all kinds say of themselves, in their metadata."""

    pair: str = Field(pattern=r"^[a-z0-9_]+$")
    library: str
    misuse: Misuse
    source: str = Field(pattern=r"^https://")
    target: int = Field(ge=0)


class Card(AnyCard):
    """What a notebook of the corpus says of itself, in its metadata."""

    version: Version
    library: Library
    fault: str = Field(min_length=1)
    cause: int = Field(ge=0)
    functions_between: int = Field(ge=0)
    shown_by_code: bool
    difficulty: Difficulty


class CellMetadata(Record):
    """Metadata of a cell of code: its executions, if there was more than one."""

    executions: tuple[int, ...] | None = Field(default=None, min_length=2)


class StoredCell(Record):
    """A cell as nbformat 4.5 stores it, without outputs."""

    id: str
    cell_type: Literal["code", "markdown"]
    source: str | list[str]
    metadata: CellMetadata
    execution_count: int | None = Field(default=None, ge=1)
    outputs: list[Any] = Field(default=[], max_length=0)


@dataclass(frozen=True)
class Cell:
    """A cell."""

    is_code: bool
    source: str
    executions: tuple[int, ...]


CardT = TypeVar("CardT", bound=AnyCard)


@dataclass(frozen=True)
class Notebook(Generic[CardT]):
    """A notebook."""

    path: Path
    sha256: str
    card: CardT
    cells: tuple[Cell, ...]

    @property
    def target(self) -> str:
        """The code of the target cell."""
        return self.cells[self.card.target].source

    @cached_property
    def executed(self) -> tuple[int, ...]:
        """Indices of the cells that were executed before the target, in order of execution."""
        last = self.cells[self.card.target].executions[-1]
        runs = [
            (count, index)
            for index, cell in enumerate(self.cells)
            for count in cell.executions
            if count < last
        ]
        return tuple(index for _, index in sorted(runs))

    @property
    def executed_sources(self) -> tuple[str, ...]:
        """The code that was executed before the target, in order of execution."""
        return tuple(self.cells[index].source for index in self.executed)


@dataclass(frozen=True)
class Execution(Generic[CardT]):
    """A notebook as one of a pair is executed: by its own code, or in a world that is made."""

    notebook: Notebook[CardT]
    version: Version
    sha256: str  # of all that it depends on
    world: Path | None = None  # the program that makes it


def cells_between(notebook: Notebook[Card]) -> int:
    """Executions from the cause to the target; of a cause that has none, the cells between."""
    cause, target = notebook.card.cause, notebook.card.target
    if cause == target:
        return 0
    if cause in notebook.executed:
        return notebook.executed[::-1].index(cause)
    low, high = sorted((cause, target))
    return sum(cell.is_code for cell in notebook.cells[low + 1 : high])


def read_notebook(path: Path) -> Notebook[Card]:
    """Read a notebook of the corpus."""
    notebook = read_as(Card, path)
    _check(notebook)
    return notebook


def read_as(kind: type[CardT], path: Path) -> Notebook[CardT]:
    """Read a notebook whose metadata have a card of some kind."""
    raw = read_json(path, REMEDY)
    is_notebook = isinstance(raw, dict) and isinstance(raw.get("metadata"), dict)
    if not is_notebook or (raw.get("nbformat"), raw.get("nbformat_minor")) != (4, 5):
        raise BadInputError(path, "nbformat", "is not a notebook of format 4.5.", REMEDY)
    if CARD not in raw["metadata"]:
        raise BadInputError(path, f"metadata.{CARD}", "is missing.", REMEDY)
    card = validated(kind, raw["metadata"][CARD], path, REMEDY, prefix=("metadata", CARD))
    if not isinstance(raw.get("cells"), list):
        raise BadInputError(path, "cells", "is missing or no list.", REMEDY)
    cells = tuple(_cell(cell, path, index) for index, cell in enumerate(raw["cells"]))
    notebook = Notebook(path, hashlib.sha256(path.read_bytes()).hexdigest(), card, cells)
    _check_cells(notebook)
    return notebook


def _cell(raw: object, path: Path, index: int) -> Cell:
    prefix = ("cells", str(index))
    stored = validated(StoredCell, raw, path, REMEDY, prefix=prefix)
    source = stored.source if isinstance(stored.source, str) else "".join(stored.source)
    count, several = stored.execution_count, stored.metadata.executions
    executions = several or (() if count is None else (count,))
    field = ".".join([*prefix, "metadata", EXECUTIONS])
    if several and (several[-1] != count or list(several) != sorted(set(several))):
        problem = "must rise and end with execution_count."
        raise BadInputError(path, field, problem, REMEDY)
    return Cell(stored.cell_type == "code", source, executions)


def _check_place(notebook: Notebook[Any], name: str) -> None:
    index = getattr(notebook.card, name)
    if index >= len(notebook.cells) or not notebook.cells[index].is_code:
        problem = f"cell {index} is no code."
        raise BadInputError(notebook.path, f"metadata.{CARD}.{name}", problem, REMEDY)


def _check_cells(notebook: Notebook[Any]) -> None:
    card, cells, path = notebook.card, notebook.cells, notebook.path
    _check_place(notebook, "target")
    counts = [count for cell in cells for count in cell.executions]
    if len(counts) != len(set(counts)):
        problem = "two cells have the same count."
        raise BadInputError(path, "cells.execution_count", problem, REMEDY)
    if len(cells[card.target].executions) != 1:
        problem = f"cell {card.target} must have been executed exactly once."
        raise BadInputError(path, f"metadata.{CARD}.target", problem, REMEDY)


def _check(notebook: Notebook[Card]) -> None:
    card = notebook.card
    _check_place(notebook, "cause")
    rule = difficulty_of(
        cells_between(notebook), card.functions_between, shown_by_code=card.shown_by_code
    )
    if card.version == "crashing" and card.difficulty != rule:
        problem = f"is {card.difficulty!r} where the rule says {rule!r}."
        raise BadInputError(notebook.path, f"metadata.{CARD}.difficulty", problem, REMEDY)


def difficulty_of(cells_between: int, functions_between: int, *, shown_by_code: bool) -> Difficulty:
    """The grade of a crash by what the code shows, and by the steps between cause and crash."""
    steps = cells_between + functions_between
    if steps >= FAR or (steps and not shown_by_code):
        return "hard"
    return "medium" if steps or not shown_by_code else "easy"


@dataclass(frozen=True)
class Pair:
    """A notebook that crashes, and the same notebook with one edit that mends it."""

    crashing: Notebook[Card]
    mended: Notebook[Card]

    @property
    def card(self) -> Card:
        """The card of the crashing version; that of the mended one differs in the version alone."""
        return self.crashing.card

    @property
    def notebooks(self) -> tuple[Notebook[Card], Notebook[Card]]:
        """Both, in the order of :data:`VERSIONS`."""
        return self.crashing, self.mended

    @property
    def executions(self) -> tuple[Execution[Card], ...]:
        """What is executed, in the order of :data:`VERSIONS`."""
        return tuple(Execution(each, each.card.version, each.sha256) for each in self.notebooks)


def read_corpus(folder: Path) -> tuple[Pair, ...]:
    """Read the pairs, in order of libraries and names."""
    pairs: dict[str, Pair] = {}
    for library in LIBRARIES:
        root = folder / library
        for place in sorted(root.iterdir()) if root.is_dir() else ():
            pair = _read_pair(place)
            if pair.card.pair in pairs:
                problem = f"{pair.card.pair!r} is the name of two pairs."
                raise BadInputError(place, "metadata.failbench.pair", problem, "Rename one.")
            pairs[pair.card.pair] = pair
    if not pairs:
        raise BadInputError(folder, "(folder)", "contains no pair of notebooks.", REMEDY)
    return tuple(pairs.values())


def _read_pair(folder: Path) -> Pair:
    pair = Pair(*(read_notebook(folder / f"{version}.ipynb") for version in VERSIONS))
    for notebook in pair.notebooks:
        place = {"library": folder.parent.name, "pair": folder.name, "version": notebook.path.stem}
        for field, value in place.items():
            written = getattr(notebook.card, field)
            if written != value:
                problem = f"is {written!r} in a file that stands for {value!r}."
                raise BadInputError(notebook.path, f"metadata.failbench.{field}", problem, REMEDY)
    _check_edit(pair)
    return pair


def _check_edit(pair: Pair) -> None:
    """One cell must separate the two, by the source of code or by how often it was executed."""
    crashing, mended = pair.notebooks

    def wrong(field: str, problem: str) -> BadInputError:
        return BadInputError(mended.path, field, problem, REMEDY)

    if crashing.card.model_copy(update={"version": "mended"}) != mended.card:
        name = crashing.path.name
        raise wrong("metadata.failbench", f"differs in more than the version from that of {name}.")
    before, after = crashing.cells, mended.cells
    if len(before) != len(after):
        raise wrong("cells", f"has {len(after)} cells where its twin has {len(before)}.")
    differing = [index for index in range(len(before)) if before[index] != after[index]]
    if len(differing) != 1:
        raise wrong("cells", f"differs from its twin in {len(differing)} cells, and must in one.")
    (index,) = differing
    old, new = before[index], after[index]
    is_source = old.executions == new.executions and old.is_code
    if old.source != new.source and not is_source:
        raise wrong(f"cells.{index}", "differs from its twin in more than the source of code.")


class Assigned(Record):
    """A row of ``data/notebooks/split.csv``: the part of a pair, and the bytes it had by then."""

    pair: str = Field(min_length=1)
    library: Library
    misuse: Misuse
    difficulty: Difficulty
    part: Part
    sha256_crashing: str = Field(pattern=r"^[0-9a-f]{64}$")
    sha256_mended: str = Field(pattern=r"^[0-9a-f]{64}$")


def read_split(path: Path) -> dict[str, Assigned]:
    """Read the split, by name of the pair."""
    return {row.pair: row for row in read_rows(path, Assigned, DRAWN_ONCE, ("pair",))}


def check_unchanged(pairs: Sequence[Pair], split: dict[str, Assigned], path: Path) -> None:
    """Hold the notebooks against the bytes that they had when the split was drawn."""
    for pair in pairs:
        known = split.get(pair.card.pair)
        if known is None:
            problem = f"{pair.card.pair!r} is in neither part."
            raise BadInputError(path, "pair", problem, DRAWN_ONCE)
        sums = (known.sha256_crashing, known.sha256_mended)
        for notebook, sha256 in zip(pair.notebooks, sums, strict=True):
            if notebook.sha256 != sha256:
                problem = f"has changed since it became a {known.part} pair."
                remedy = "Restore it with git: pairs are fixed with the split."
                raise BadInputError(notebook.path, "(file)", problem, remedy)


OBSERVED: Final = "observed.parquet"  # the file in the folder of the corpus
OBSERVED_REMEDY: Final = "Restore it with git, or run `make record-notebooks`."
KEY: Final = ("pair", "version")

SCHEMA: Final = pl.Schema(
    {
        "pair": pl.String,
        "version": pl.String,  # "crashing" or "mended"
        "library": pl.String,
        "notebook_sha256": pl.String,  # of the file that was executed
        "crash": pl.Boolean,  # of the target; no cell before it may
        # of the crash, null where there is none
        "ename": pl.String,
        "evalue": pl.String,  # the first 2,000 characters
        "line": pl.Int32,  # of the target, counted from 1
        "source_line": pl.String,
        "functions": pl.Int32,  # of the notebook that the crash passed through
        # the state of the kernel after the cells before the target, and before it
        "summary": pl.String,  # JSON
        "seconds": pl.Float64,  # of the target
        "seconds_before": pl.Float64,  # of the cells before it
        "versions": pl.String,  # JSON: Python and each library
        "recorder": pl.String,  # sha256 of the modules that make the summary
    }
)

OBSERVED_TABLE: Final = AnswerTable(
    SCHEMA, KEY, ("pair",), ("notebook_sha256", "recorder", "versions"), OBSERVED_REMEDY
)


def code_of_summary() -> str:
    """A hash of the modules that make the summary and name what is relevant."""
    here = Path(__file__).parent
    files = [*sorted((here / "summary").glob("*.py")), here / "relevant.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def read_observed(path: Path) -> pl.DataFrame:
    """Read the table, sorted by pair and version."""
    table = OBSERVED_TABLE.read(path)
    versions = table.group_by("pair").agg(pl.col("version").sort())
    alone = versions.filter(pl.col("version") != ["crashing", "mended"])
    if alone.height:
        problem = f"{alone['pair'].sort()[0]!r} does not have both versions."
        raise BadInputError(path, "version", problem, OBSERVED_REMEDY)
    of_crash = ("ename", "evalue", "line", "source_line", "functions")
    for name in SCHEMA:
        needed = table.filter(pl.col("crash")) if name in of_crash else table
        if needed[name].is_null().any():
            raise BadInputError(path, name, "a value is absent.", OBSERVED_REMEDY)
    return table
