"""The corpus: pairs of notebooks in ``data/notebooks/<library>/<pair>/``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from failbench.base.errors import BadInputError
from failbench.notebooks.notebook import REMEDY, Card, Library, Notebook, Version, read_notebook

LIBRARIES: Final[tuple[Library, ...]] = get_args(Library)
VERSIONS: Final[tuple[Version, ...]] = get_args(Version)


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
