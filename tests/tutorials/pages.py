"""Which pages are executed, and where."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repository_copy import REPOSITORY, RepositoryCopy
from walk_through import Walk

FOLDER = REPOSITORY / "docs/tutorials"


@dataclass(frozen=True)
class Tutorial:
    """A page that is executed.

    A pipeline is a copy of the repository whose results DVC takes to be those of its code, whatever
    was changed since they were made.
    """

    name: str
    place: Literal["empty", "checkout", "pipeline"]
    slow: bool = False
    needs_torch: bool = False

    @property
    def path(self) -> Path:
        """The page."""
        return FOLDER / f"{self.name}.md"

    def begin(self, folder: Path) -> Walk:
        """The place where a reader begins, made in a folder."""
        root = folder / "failbench"
        if self.place == "empty":
            root.mkdir()
            return Walk(root, (REPOSITORY / "src",))
        copy = RepositoryCopy.of_working_tree(root)
        if self.place == "pipeline":
            copy.dvc("commit", "--force", "--quiet")
            copy.commit()
        return Walk(root, (root / "src", root / "experiments"))


TUTORIALS = (
    Tutorial("diagnose_a_log", "empty"),
    Tutorial("watch_a_loop", "empty", needs_torch=True),
    Tutorial("add_a_scenario", "checkout", slow=True, needs_torch=True),
    Tutorial("sweep_a_parameter", "pipeline", slow=True),
    Tutorial("read_the_papers_numbers", "checkout"),
)
"""In the order in which they are read."""
