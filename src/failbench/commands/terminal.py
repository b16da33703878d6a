"""What commands share of the terminal: a bar while they work, a status when they are stopped."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

INTERRUPTED = 130
"""Exit status of a command that was stopped before its end, as shells have it of SIGINT."""


def progress_bar(time_left: bool = False) -> Progress:
    """A bar with the task's description before it and how many of how many are done after it.

    Parameters
    ----------
    time_left
        Whether an estimate of the time left follows.
    """
    columns: list[ProgressColumn] = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
    ]
    if time_left:
        columns.append(TimeRemainingColumn())
    return Progress(*columns, console=Console())
