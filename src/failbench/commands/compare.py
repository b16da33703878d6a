"""The command ``compare``: whether the results are still those that are committed."""

from __future__ import annotations

from pathlib import Path


def compare_results(*, against: str) -> int:
    """Print in what the results in the working tree differ from those of a revision.

    Parameters
    ----------
    against
        What git understands as a commit.

    Returns
    -------
    int
        Exit status: 0 if they are equal or differ as between processors, else 1.

    Raises
    ------
    BadInputError
        If the working folder is not the root of a repository that has the commit.
    """
    from failbench.reproduction.comparison import compare
    from failbench.reproduction.report import report
    from failbench.reproduction.revision import read_revision

    comparison = compare(read_revision(Path(), against))
    print(report(comparison, against))
    return 1 if comparison.changed else 0
