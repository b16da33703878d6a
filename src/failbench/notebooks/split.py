"""Which pairs predictors may be made with, and which are kept to test them."""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.files import write_atomically
from failbench.base.records import Record, read_rows
from failbench.notebooks.corpus import LIBRARIES, Pair
from failbench.notebooks.notebook import Difficulty, Library, Misuse

SPLIT: Final = "split.csv"
"""The file in the folder of the corpus."""

SEED: Final = 20261123
"""The day on which the split was drawn, before there was a predictor."""

REMEDY: Final = "Restore it with git: the split was drawn once."

Part = Literal["development", "test"]

MISUSES: Final[tuple[Misuse, ...]] = get_args(Misuse)


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
    for line, row in enumerate(read_rows(path, Assigned, REMEDY), start=2):
        if row.pair in assigned:
            place = f"{path}, line {line}"
            raise BadInputError(place, "pair", f"{row.pair!r} is there twice.", REMEDY)
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
            raise BadInputError(path, "pair", problem, REMEDY)
        sums = (known.sha256_crashing, known.sha256_mended)
        for notebook, sha256 in zip(pair.notebooks, sums, strict=True):
            if notebook.sha256 != sha256:
                problem = f"has changed since it became a {known.part} pair."
                remedy = "Restore it with git: pairs are fixed with the split."
                raise BadInputError(notebook.path, "(file)", problem, remedy)
