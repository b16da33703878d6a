"""Comparison of the results in the working tree with those of a revision."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import yaml

from failbench.base.errors import BadInputError
from failbench.publish.reproduction.compiled import compiled_differences
from failbench.publish.reproduction.difference import Difference
from failbench.publish.reproduction.drawing import drawing_differences
from failbench.publish.reproduction.leaves import (
    described_differences,
    lock_differences,
    metrics_differences,
)
from failbench.publish.reproduction.marked import generated_differences
from failbench.publish.reproduction.printed import text_differences
from failbench.publish.reproduction.revision import Revision
from failbench.publish.reproduction.rows import parquet_differences, points_differences
from failbench.publish.reproduction.tolerances import FileKind, FileRule, rule_of

RESULTS = ("data", "figures", "paper", "src/failbench/fitted/*.json", "dvc.lock", "README.md")
"""Files and folders whose files are compared."""

Reader = Callable[[bytes, bytes, FileRule], list[Difference]]
UNREADABLE = (ValueError, pl.exceptions.PolarsError, yaml.YAMLError, csv.Error)


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
        raise BadInputError(
            revision.root.resolve(),
            revision.name,
            f"has no results in {', '.join(RESULTS)}.",
            "Name a commit of this project.",
        )
    files = [compare_file(revision, path) for path in revision.changed(RESULTS)]
    return ResultsComparison(total, tuple(file for file in files if not _is_prose(file)))


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
        problem = " ".join(str(error).split())
        return FileComparison(
            path, (Difference("", "content", "readable", f"cannot be read: {problem}"),)
        )
    if rule.kind == "drawing":
        differences = [*_without_points(revision, path), *differences]
    return FileComparison(path, tuple(differences))


def _without_points(revision: Revision, figure: str) -> list[Difference]:
    points = f"data/plots/{Path(figure).stem}.csv"
    if revision.regenerated(points) is not None:
        return []
    return [Difference("", f"points in {points}", "needed to compare the figure", "(absent)")]


def _is_prose(file: FileComparison) -> bool:
    return rule_of(file.path).kind == "marked" and not file.differences


def _recorded(committed: bytes, regenerated: bytes, rule: FileRule) -> list[Difference]:
    field = f"content ({rule.reason})"
    return [Difference("", field, f"{len(committed)} bytes", f"{len(regenerated)} others")]


def _table(committed: bytes, regenerated: bytes, _: FileRule) -> list[Difference]:
    return text_differences(committed.decode("utf-8"), regenerated.decode("utf-8"))


def _marked(committed: bytes, regenerated: bytes, _: FileRule) -> list[Difference]:
    return generated_differences(committed.decode("utf-8"), regenerated.decode("utf-8"))


READERS: dict[FileKind, Reader] = {
    "recorded": _recorded,
    "parquet": parquet_differences,
    "metrics": metrics_differences,
    "points": points_differences,
    "table": _table,
    "marked": _marked,
    "drawing": drawing_differences,
    "lock": lock_differences,
    "described": described_differences,
    "compiled": compiled_differences,
}
