"""The report of a comparison of results, as text."""

from __future__ import annotations

from failbench.publish.reproduction.comparison import FileComparison, ResultsComparison

LISTED_CHANGES = 5
"""Number of changes of a file that are listed; the others are counted."""


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
