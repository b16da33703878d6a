"""Terminal output that commands share: a progress bar, and an exit status when stopped."""

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
"""Exit status of an interrupted command, as shells return it for SIGINT."""


def progress_bar(time_left: bool = False) -> Progress:
    """A progress bar with the task's description and the number of finished units.

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
