"""Which pairs predictors may be made with, and which are kept to test them."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from failbench.errors import BadInputError
from failbench.files import write_atomically
from failbench.notebooks.corpus import LIBRARIES, Pair
from failbench.notebooks.difficulty import Difficulty
from failbench.notebooks.notebook import Library, Misuse
from failbench.records import Record
from failbench.validation import validated

SPLIT: Final = "split.csv"
"""The file in the folder of the corpus."""

SEED: Final = 20261123
"""The day on which the split was drawn, before there was a predictor."""

REMEDY: Final = "Restore it with git: the split was drawn once."

Part = Literal["development", "test"]


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
    """Halve the corpus, by library and by misuse within it.

    In each library pairs are put in order of misuse and, within one, of a hash of seed and name,
    and go to development and test in turn. Which comes first is a hash of seed and library. So no
    two halves of a library, nor of a misuse within it, differ by more than one pair.

    Returns
    -------
    tuple of Assigned
        In order of libraries and names.
    """
    assigned: dict[str, Assigned] = {}
    for library in LIBRARIES:
        members = [pair for pair in pairs if pair.card.library == library]
        members.sort(key=lambda pair: (pair.card.misuse, _hash(seed, pair.card.pair)))
        first = int(_hash(seed, library), 16) % 2
        for place, pair in enumerate(members):
            part: Part = "test" if (place + first) % 2 else "development"
            assigned[pair.card.pair] = _assigned(pair, part)
    return tuple(assigned[pair.card.pair] for pair in pairs)


def _hash(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()


def _assigned(pair: Pair, part: Part) -> Assigned:
    card = pair.card
    return Assigned(
        pair=card.pair,
        library=card.library,
        misuse=card.misuse,
        difficulty=card.difficulty,
        part=part,
        sha256_crashing=pair.crashing.sha256,
        sha256_mended=pair.mended.sha256,
    )


def read_split(path: Path) -> dict[str, Assigned]:
    """Read the split, by name of the pair.

    Raises
    ------
    BadInputError
        If the file is missing or not CSV, a column is missing or unknown, a value is out of its
        domain, or a pair is there twice.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (OSError, ValueError, csv.Error) as error:
        problem = f"is missing or is not a CSV file ({' '.join(str(error).split())})."
        raise BadInputError(path, "(file)", problem, REMEDY) from error
    assigned: dict[str, Assigned] = {}
    for line, row in enumerate(rows, start=2):
        place = f"{path}, line {line}"
        known = validated(Assigned, row, place, REMEDY)
        if known.pair in assigned:
            raise BadInputError(place, "pair", f"{known.pair!r} is there twice.", REMEDY)
        assigned[known.pair] = known
    return assigned


def write_split(path: Path, assigned: Sequence[Assigned]) -> None:
    """Write the split.

    Raises
    ------
    BadInputError
        If there is one already.
    """
    if path.exists():
        raise BadInputError(path, "(file)", "is there already.", "A split is drawn once.")
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(Assigned.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.model_dump() for row in assigned)
    write_atomically(path, buffer.getvalue().encode(), "Free space, or name another folder.")


def check_unchanged(pairs: Sequence[Pair], split: dict[str, Assigned], path: Path) -> None:
    """Hold the notebooks against the bytes that they had when the split was drawn.

    Raises
    ------
    BadInputError
        If a pair is not in the split, or another than it was.
    """
    for pair in pairs:
        known = split.get(pair.card.pair)
        if known is None:
            problem = f"{pair.card.pair!r} is in neither part."
            raise BadInputError(path, "pair", problem, REMEDY)
        for notebook, sha256 in zip(
            pair.notebooks, (known.sha256_crashing, known.sha256_mended), strict=True
        ):
            if notebook.sha256 != sha256:
                problem = f"has changed since it became a {known.part} pair."
                remedy = "Restore it with git: pairs are fixed with the split."
                raise BadInputError(notebook.path, "(file)", problem, remedy)
