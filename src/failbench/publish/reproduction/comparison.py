"""The results in the working tree against those of a revision, and the report of it."""

import csv
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import yaml

from failbench.base.errors import BadInputError
from failbench.publish.reproduction import printed, values
from failbench.publish.reproduction.values import Difference, FileRule, rule_of

RESULTS = ("data", "figures", "paper", "src/failbench/fitted/*.json", "dvc.lock", "README.md")
"""Files and folders whose files are compared."""

UNREADABLE = (ValueError, pl.exceptions.PolarsError, yaml.YAMLError, csv.Error)

LISTED_CHANGES = 5  # number of changes of a file that are listed; the others are counted


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
        problem = "is not the repository's root."
        raise BadInputError(root.resolve(), "(folder)", problem, f"Run it from {top}.")
    commit = git(root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    return Revision(root, commit.decode("ascii").strip())


def git(root: Path, *arguments: str) -> bytes:
    """The output of a git command."""
    program = shutil.which("git")
    if program is None:
        raise BadInputError("git", "(program)", "was not found.", "Install git.")
    result = subprocess.run([program, *arguments], cwd=root, capture_output=True, check=False)
    if result.returncode:
        said = " ".join(result.stderr.decode("utf-8", "replace").split())
        problem = f"failed: {said.removeprefix('fatal: ').rstrip('.')}."
        remedy = "Run it from the root of a clone, against a commit that it has."
        raise BadInputError(root.resolve(), f"git {arguments[0]}", problem, remedy)
    return result.stdout


@dataclass(frozen=True)
class FileComparison:
    """A result whose bytes differ, with its differences; without any the content is the same."""

    path: str
    differences: tuple[Difference, ...]

    @property
    def changes(self) -> tuple[Difference, ...]:
        """Differences beyond the tolerances between processors."""
        return tuple(difference for difference in self.differences if not difference.within)


@dataclass(frozen=True)
class ResultsComparison:
    """The number of result files of a revision, and those that differ."""

    total: int
    files: tuple[FileComparison, ...]

    @property
    def changed(self) -> tuple[FileComparison, ...]:
        """Files with a difference beyond the tolerances between processors."""
        return tuple(file for file in self.files if file.changes)


def compare(revision: Revision) -> ResultsComparison:
    """Compare the results in the working tree with those of a revision."""
    total = len(revision.files(RESULTS))
    if not total:
        problem = f"has no results in {', '.join(RESULTS)}."
        remedy = "Name a commit of this project."
        raise BadInputError(revision.root.resolve(), revision.name, problem, remedy)
    files = [compare_file(revision, path) for path in revision.changed(RESULTS)]
    # of a text with generated parts, prose alone may have changed
    counted = (file for file in files if file.differences or rule_of(file.path).kind != "marked")
    return ResultsComparison(total, tuple(counted))


def compare_file(revision: Revision, path: str) -> FileComparison:
    """Compare one result file with that of a revision."""
    rule = rule_of(path)
    committed, regenerated = revision.committed(path), revision.regenerated(path)
    if committed is None:
        return FileComparison(path, (Difference("", "file", "(absent)", "new"),))
    if regenerated is None:
        return FileComparison(path, (Difference("", "file", "committed", "(absent)"),))
    try:
        differences = READERS[rule.kind](committed, regenerated, rule)
    except UNREADABLE as error:
        problem = f"cannot be read: {' '.join(str(error).split())}"
        return FileComparison(path, (Difference("", "content", "readable", problem),))
    points = f"data/plots/{Path(path).stem}.csv"
    if rule.kind == "drawing" and revision.regenerated(points) is None:
        needed = ("needed to compare the figure", "(absent)")
        differences.insert(0, Difference("", f"points in {points}", *needed))
    return FileComparison(path, tuple(differences))


def _recorded(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    field = f"content ({rule.reason})"
    return [Difference("", field, f"{len(committed)} bytes", f"{len(regenerated)} others")]


READERS: dict[str, Callable[[bytes, bytes, FileRule], list[Difference]]] = {
    "recorded": _recorded,
    "parquet": values.parquet_differences,
    "metrics": values.metrics_differences,
    "points": values.points_differences,
    "table": printed.table_differences,
    "marked": printed.marked_differences,
    "drawing": printed.drawing_differences,
    "lock": values.lock_differences,
    "described": values.described_differences,
    "compiled": printed.compiled_differences,
}
"""How a file is compared, by the kind that its rule names."""


def report(comparison: ResultsComparison, name: str) -> str:
    """The comparison as lines of text; ``name`` is that of the revision."""
    files = comparison.files
    if not files:
        return f"The regenerated results equal those of {name}, byte for byte."
    of_all = f"{len(files)} of {comparison.total} files"
    if comparison.changed:
        lines = [f"The results differ from those of {name}, in {len(comparison.changed)} files:"]
        lines += [line for file in comparison.changed for line in _changes(file)]
        close = [file for file in files if not file.changes]
        if close:
            lines += [f"Another processor may have made the differences in {len(close)} others:"]
            lines += [_close(file) for file in close]
    elif any(file.differences for file in files):
        heading = f"Other processor: {of_all} differ from {name}, every number within its tolerance"
        lines = [f"{heading} and no answer changed.", *map(_close, files)]
    else:
        heading = f"The regenerated results say the same as those of {name}"
        lines = [f"{heading}, in other bytes in {of_all}.", *map(_close, files)]
    return "\n".join(lines)


def _changes(file: FileComparison) -> list[str]:
    lines = [f"  {file.path}"]
    lines += [f"    {difference}" for difference in file.changes[:LISTED_CHANGES]]
    more = len(file.changes) - LISTED_CHANGES
    return [*lines, f"    and {more} more"] if more > 0 else lines


def _close(file: FileComparison) -> str:
    if not file.differences:
        return f"  {file.path}: the same values and declarations"
    largest = max(file.differences, key=lambda difference: difference.share)
    count = len(file.differences)
    numbers = "a value differs" if count == 1 else f"{count} values differ"
    return f"  {file.path}: {numbers}, most at {largest} ({largest.share:.0%} of the tolerance)"
