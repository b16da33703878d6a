"""Record traces of reasoning: small models in known conditions, and what they answer."""

from __future__ import annotations

import os
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from failbench.cli.paths import REASONING, REASONING_WORK
from failbench.reasoning.recorder import Folders, record


def record_reasoning(
    output: Path = REASONING, work: Path = REASONING_WORK, workers: int = 1, *, again: bool = False
) -> int:
    """Record the models that are missing or out of date, and write their traces."""
    os.environ["OMP_NUM_THREADS"] = "1"
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as bar:
        models = bar.add_task("looking for what is missing", total=None)
        for progress in record(Folders(output, work), workers, again=again):
            last = f"{progress.row['model']}: loss {progress.row['loss']:.3f}"
            bar.update(models, total=progress.planned, completed=progress.done, description=last)
        if not bar.finished:
            bar.update(models, total=1, completed=1, description="nothing is missing")
    return 0
