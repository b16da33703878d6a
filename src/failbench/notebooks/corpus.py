"""The corpus: pairs of notebooks in ``data/notebooks/<library>/<pair>/``, and how it was split.

The split says which pairs predictors may be made with, and which are kept to test them.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, read_rows
from failbench.notebooks.notebook import (
    REMEDY,
    Card,
    Difficulty,
    Library,
    Misuse,
    Notebook,
    Version,
    read_notebook,
)

LIBRARIES: Final[tuple[Library, ...]] = get_args(Library)
VERSIONS: Final[tuple[Version, ...]] = get_args(Version)

SPLIT: Final = "split.csv"
"""The file in the folder of the corpus."""

SEED: Final = 20261123
"""The day on which the split was drawn, before there was a predictor."""

DRAWN_ONCE: Final = "Restore it with git: the split was drawn once."

Part = Literal["development", "test"]

MISUSES: Final[tuple[Misuse, ...]] = get_args(Misuse)


@dataclass(frozen=True)
class Pair:
    """A notebook that crashes, and the same notebook with one edit that mends it."""

    crashing: Notebook
    mended: Notebook

    @property
    def card(self) -> Card:
        """The card of the crashing version; that of the mended one differs in the version alone."""
        return self.crashing.card

    @property
    def notebooks(self) -> tuple[Notebook, Notebook]:
        """Both, in the order of :data:`VERSIONS`."""
        return self.crashing, self.mended


def read_corpus(folder: Path, only: Collection[str] | None = None) -> tuple[Pair, ...]:
    """Read the pairs, in order of libraries and names."""
    pairs: dict[str, Pair] = {}
    for library in LIBRARIES:
        root = folder / library
        for place in sorted(root.iterdir()) if root.is_dir() else ():
            if only is not None and place.name not in only:
                continue
            pair = _read_pair(place)
            if pair.card.pair in pairs:
                problem = f"{pair.card.pair!r} is the name of two pairs."
                raise BadInputError(place, "metadata.failbench.pair", problem, "Rename one.")
            pairs[pair.card.pair] = pair
    for name in sorted(set(only or ()) - set(pairs)):
        raise BadInputError(folder, name, "there is no such pair.", "Correct the name.")
    if not pairs:
        raise BadInputError(folder, "(folder)", "holds no pair of notebooks.", REMEDY)
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


def draw_split(pairs: Sequence[Pair], seed: int = SEED) -> tuple[Assigned, ...]:
    """Halve the corpus, by misuse and library.

    The pairs of a misuse in a library are put in order of a hash of seed and name; one half of them
    is for development and the next is for test. Where one is left over it goes to the part that has
    fewer of the misuse, else fewer of the library, else by the hash. So the halves of a misuse, and
    those of a misuse within a library, differ by one pair at most.
    """
    parts: dict[str, Part] = {}
    sizes: Counter[tuple[str, Part]] = Counter()
    for misuse, library in product(MISUSES, LIBRARIES):
        cards = [pair.card for pair in pairs]
        names = [card.pair for card in cards if (card.misuse, card.library) == (misuse, library)]
        names.sort(key=lambda name: _hash(seed, name))
        half = len(names) // 2
        for place, name in enumerate(names):
            part: Part = "development" if place < half else "test"
            if place == 2 * half:
                part = _part_of_rest(sizes, misuse, library, _hash(seed, name))
            parts[name] = part
            sizes.update([(misuse, part), (library, part)])
    return tuple(
        Assigned(
            **pair.card.model_dump(include={"pair", "library", "misuse", "difficulty"}),
            part=parts[pair.card.pair],
            sha256_crashing=pair.crashing.sha256,
            sha256_mended=pair.mended.sha256,
        )
        for pair in pairs
    )


def _part_of_rest(
    sizes: Counter[tuple[str, Part]], misuse: Misuse, library: Library, drawn: str
) -> Part:
    for group in (misuse, library):
        difference = sizes[group, "development"] - sizes[group, "test"]
        if difference:
            return "test" if difference > 0 else "development"
    return "test" if int(drawn, 16) % 2 else "development"


def _hash(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()


def read_split(path: Path) -> dict[str, Assigned]:
    """Read the split, by name of the pair."""
    assigned: dict[str, Assigned] = {}
    for line, row in enumerate(read_rows(path, Assigned, DRAWN_ONCE), start=2):
        if row.pair in assigned:
            place = f"{path}, line {line}"
            raise BadInputError(place, "pair", f"{row.pair!r} is there twice.", DRAWN_ONCE)
        assigned[row.pair] = row
    return assigned


def write_split(path: Path, assigned: Sequence[Assigned]) -> None:
    """Write the split."""
    if path.exists():
        raise BadInputError(path, "(file)", "is there already.", "A split is drawn once.")
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(Assigned.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.model_dump() for row in assigned)
    write_atomically(path, buffer.getvalue().encode(), "Free space, or name another folder.")


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
