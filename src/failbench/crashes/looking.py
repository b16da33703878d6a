"""Looking: the cells before a target are executed in a live kernel, and its names summarised."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from failbench.base.errors import BadInputError
from failbench.crashes.reading import Asked
from failbench.notebooks.kernel import Kernel, OutOfTimeError, forge
from failbench.notebooks.relevant import relevant_names
from failbench.notebooks.summaries import Summary, parse_summary

SECONDS: Final = 120.0
"""That a cell before the target may take."""

BYTES: Final = 8 * 2**30
"""Of address space that the kernel has."""

REMEDY: Final = "Mend it, give its data with --files, or use --code-only or --summary."


def summary_before(notebook: Path, asked: Asked, files: Path | None) -> Summary:
    """Execute the cells before a target, without a network, and summarise what the kernel holds."""
    try:
        relevant = relevant_names(asked.executed, asked.target)
    except SyntaxError as error:
        problem = f"a cell is no Python ({error})."
        raise BadInputError(notebook, "cells", problem, "Mend it, or use --code-only.") from error
    with (
        tempfile.TemporaryDirectory(prefix="failbench-") as cache,
        forge(SECONDS, BYTES, Path(cache)) as kernels,
        kernels.kernel() as kernel,
    ):
        if files is not None:
            _copy(files, kernel.folder)
        for place, source in enumerate(asked.executed):
            _execute(kernel, source, notebook, f"executed cell {place}")
        return parse_summary(kernel.summary(relevant.names, relevant.attributes))


def _execute(kernel: Kernel, source: str, notebook: Path, field: str) -> None:
    try:
        failure = kernel.execute(source)
    except OutOfTimeError as error:
        raise BadInputError(notebook, field, f"{error}.", REMEDY) from error
    if failure is not None:
        problem = f"raises {failure.name} ({failure.message}), before the target."
        raise BadInputError(notebook, field, problem, REMEDY)


def _copy(files: Path, folder: Path) -> None:
    try:
        shutil.copytree(files, folder, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        problem = f"cannot be copied ({' '.join(str(error).split())})."
        raise BadInputError(files, "--files", problem, "Name a folder that can be read.") from error
