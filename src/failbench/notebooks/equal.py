"""Pairs of equal code: a notebook executed in two worlds, which only the kernel can tell apart."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows, validated
from failbench.notebooks.corpus import (
    DRAWN_ONCE,
    REMEDY,
    SPLIT,
    VERSIONS,
    AnyCard,
    Execution,
    Library,
    Notebook,
    Part,
    Version,
    read_as,
)
from failbench.notebooks.summaries import Facts

Differs = Literal["file", "draw", "date", "environment", "fit"]
LIBRARIES: Final[tuple[str, ...]] = (*get_args(Library), "polars")
BYTES: Final = 50_000  # of all files of a world
SECONDS: Final = 60.0  # in which a world is made
NOTEBOOK, WORLD = "notebook.ipynb", "world.py"

# what is left of a world when its files are written
_MAKE: Final = """\
import json, runpy, sys
world, version = runpy.run_path(sys.argv[1]), sys.argv[2]
world.get("files", lambda version: None)(version)
names = ("environment", "seed", "today")
print(json.dumps({name: world[name](version) for name in names if name in world}))
"""


class EqualCard(AnyCard):
    """What a notebook of equal code says of itself, in its metadata."""

    library: Literal[Library, "polars"]
    author: str = Field(min_length=1)
    facts: Facts  # class of the fact that decides
    held: bool  # whether a summary of reasonable length holds it, by the author
    differs_by: Differs
    fact: str = Field(min_length=1)
    words: tuple[str, ...] = Field(min_length=1, max_length=3)
    remedy: str = Field(min_length=1)


class World(Record):
    """What of a world is no file: what a kernel is started with."""

    environment: Mapping[str, str] = {}
    seed: int | None = Field(default=None, ge=0, lt=2**32)  # of the global generators
    today: str | None = None  # date and time in UTC, as ISO 8601 writes it


@dataclass(frozen=True)
class EqualPair:
    """A notebook, and the program that makes the world in which it crashes and the other one."""

    notebook: Notebook[EqualCard]
    world: Path

    @property
    def card(self) -> EqualCard:
        """The card of the notebook."""
        return self.notebook.card

    @property
    def sha256(self) -> str:
        """Of the notebook and of what makes its worlds."""
        content = self.notebook.path.read_bytes() + self.world.read_bytes()
        return hashlib.sha256(content).hexdigest()

    @property
    def executions(self) -> tuple[Execution[EqualCard], ...]:
        """What is executed, in the order of :data:`VERSIONS`."""
        return tuple(
            Execution(self.notebook, version, self.sha256, self.world) for version in VERSIONS
        )


def read_equal(folder: Path) -> tuple[EqualPair, ...]:
    """Read the pairs, in order of libraries and names."""
    pairs = {}
    for library in LIBRARIES:
        root = folder / library
        for place in sorted(root.iterdir()) if root.is_dir() else ():
            pair = EqualPair(read_as(EqualCard, place / NOTEBOOK), place / WORLD)
            written = (pair.card.library, pair.card.pair)
            if written != (library, place.name):
                problem = f"is {'/'.join(written)!r} in a file that stands for another."
                raise BadInputError(place / NOTEBOOK, "metadata.failbench", problem, REMEDY)
            if not pair.world.is_file():
                raise BadInputError(pair.world, "(file)", "is missing.", REMEDY)
            if pair.card.pair in pairs:
                problem = f"{pair.card.pair!r} is the name of two pairs."
                raise BadInputError(place, "metadata.failbench.pair", problem, "Rename one.")
            pairs[pair.card.pair] = pair
    if not pairs:
        raise BadInputError(folder, "(folder)", "contains no pair of notebooks.", REMEDY)
    return tuple(pairs.values())


class EqualAssigned(Record):
    """A row of the split: the part of a pair, and the bytes it had by then."""

    pair: str = Field(min_length=1)
    library: Literal[Library, "polars"]
    author: str = Field(min_length=1)
    part: Part
    sha256_notebook: str = Field(pattern=r"^[0-9a-f]{64}$")
    sha256_world: str = Field(pattern=r"^[0-9a-f]{64}$")


def read_parts(folder: Path, pairs: Sequence[EqualPair]) -> dict[str, Part]:
    """The part of each pair, held against the bytes that it had when the split was drawn."""
    place = folder / SPLIT
    rows = {row.pair: row for row in read_rows(place, EqualAssigned, DRAWN_ONCE, ("pair",))}
    for pair in pairs:
        known = rows.get(pair.card.pair)
        if known is None:
            problem = f"{pair.card.pair!r} is in neither part."
            raise BadInputError(place, "pair", problem, DRAWN_ONCE)
        sums = (known.sha256_notebook, known.sha256_world)
        for path, sha256 in zip((pair.notebook.path, pair.world), sums, strict=True):
            if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
                problem = f"has changed since it became part of a {known.part} pair."
                remedy = "Restore it with git: pairs are fixed with the split."
                raise BadInputError(path, "(file)", problem, remedy)
    return {pair.card.pair: rows[pair.card.pair].part for pair in pairs}


def make_world(program: Path, version: Version, folder: Path, environment: dict[str, str]) -> World:
    """Write the files of a world into a folder, by a process of its own; the rest of it."""
    command = (sys.executable, "-c", _MAKE, str(program.resolve()), version)
    options: dict[str, Any] = {"cwd": folder, "env": environment, "timeout": SECONDS}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, **options)
        told = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        problem = f"makes no {version} world ({said[-1] if said else 'it says nothing'})."
        raise BadInputError(program, "(program)", problem, "Correct it.") from error
    world = validated(World, told, program, "Correct it.")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > BYTES:
        problem = f"writes {size:,} bytes for the {version} world, of {BYTES:,}."
        raise BadInputError(program, "files", problem, "Write less.")
    return world
