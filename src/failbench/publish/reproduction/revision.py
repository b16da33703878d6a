"""Results in a revision of the repository, and in the working tree."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from failbench.base.errors import BadInputError


@dataclass(frozen=True)
class Revision:
    """A commit of a repository."""

    root: Path
    name: str

    def files(self, results: tuple[str, ...]) -> list[str]:
        """All files of results, expanded from folders, by their paths from the root."""
        return self._paths("ls-tree", "-r", "--name-only", self.name, "--", *results)

    def changed(self, results: tuple[str, ...]) -> list[str]:
        """Results that were changed, deleted or added; files that git ignores are excluded."""
        modified = self._paths("diff", "--name-only", "--no-renames", self.name, "--", *results)
        new = self._paths("ls-files", "--others", "--exclude-standard", "--", *results)
        paths = sorted({*modified, *new})
        return [path for path in paths if self.committed(path) != self.regenerated(path)]

    def committed(self, path: str) -> bytes | None:
        """The content of a file in the revision, or None."""
        if path not in self._paths("ls-tree", "--name-only", self.name, "--", path):
            return None
        return git(self.root, "cat-file", "blob", f"{self.name}:{path}")

    def regenerated(self, path: str) -> bytes | None:
        """The content of a file in the working tree, or None."""
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def _paths(self, *arguments: str) -> list[str]:
        command, *options = arguments
        listed = git(self.root, command, "-z", *options).decode("utf-8")
        return [path for path in listed.split("\0") if path]


def read_revision(root: Path, name: str) -> Revision:
    """The commit of a name in the repository with this root."""
    top = git(root, "rev-parse", "--show-toplevel").decode("utf-8").rstrip("\n")
    if Path(top).resolve() != root.resolve():
        raise BadInputError(
            root.resolve(), "(folder)", "is not the repository's root.", f"Run it from {top}."
        )
    commit = git(root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    return Revision(root, commit.decode("ascii").strip())


def git(root: Path, *arguments: str) -> bytes:
    """The output of a git command."""
    program = shutil.which("git")
    if program is None:
        raise BadInputError("git", "(program)", "was not found.", "Install git.")
    result = subprocess.run([program, *arguments], cwd=root, capture_output=True, check=False)
    if result.returncode:
        problem = " ".join(result.stderr.decode("utf-8", "replace").split())
        raise BadInputError(
            root.resolve(),
            f"git {arguments[0]}",
            f"failed: {problem.removeprefix('fatal: ').rstrip('.')}.",
            "Run it from the root of a clone, against a commit that it has.",
        )
    return result.stdout
