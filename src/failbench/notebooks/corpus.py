"""The corpus: pairs of notebooks in ``data/notebooks/<library>/<pair>/``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from failbench.base.errors import BadInputError
from failbench.notebooks.edits import Edit, edit_between
from failbench.notebooks.notebook import (
    REMEDY,
    Card,
    Library,
    Notebook,
    Version,
    read_notebook,
)

LIBRARIES: Final[tuple[Library, ...]] = get_args(Library)
VERSIONS: Final[tuple[Version, ...]] = get_args(Version)


@dataclass(frozen=True)
class Pair:
    """A notebook that crashes, and the same notebook with one edit that mends it."""

    crashing: Notebook
    mended: Notebook
    edit: Edit

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
    crashing, mended = (read_notebook(folder / f"{version}.ipynb") for version in VERSIONS)
    for notebook in (crashing, mended):
        card = notebook.card
        expected = {
            "library": folder.parent.name,
            "pair": folder.name,
            "version": notebook.path.stem,
        }
        for field, value in expected.items():
            if getattr(card, field) != value:
                problem = f"is {getattr(card, field)!r} in a file that stands for {value!r}."
                raise BadInputError(notebook.path, f"metadata.failbench.{field}", problem, REMEDY)
    return Pair(crashing, mended, edit_between(crashing, mended))
