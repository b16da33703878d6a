"""The command ``compare``: whether the results equal the committed ones."""

from __future__ import annotations

from pathlib import Path


def compare_results(*, against: str) -> int:
    """Print the differences between the results in the working tree and those of a revision."""
    from failbench.publish.reproduction.comparison import compare
    from failbench.publish.reproduction.report import report
    from failbench.publish.reproduction.revision import read_revision

    comparison = compare(read_revision(Path(), against))
    print(report(comparison, against))
    return 1 if comparison.changed else 0
