"""Tools as child processes of this interpreter, which has the libraries, without settings."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from failbench.base.errors import BadInputError
from failbench.crashes.checkers.exceptions import Tool
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question

LIBRARIES: Final = ("numpy", "pandas", "scikit-learn", "matplotlib", "lightgbm", "torch")
"""Of which the notebooks are made, and whose types and code the tools read."""

MODULE: Final = "failbench_question.py"
"""The file that a tool is given; no code imports a module of this name."""

INSTALL: Final = "Install the extra: pip install -e '.[crashes]'."


def run_tool(
    tool: Tool, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Any:
    """What a tool prints, as JSON; its exit status says that it found something, and no more."""
    if find_spec(tool) is None:
        raise BadInputError("failbench.crashes", tool, "is not installed.", INSTALL)
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(tool.upper())
    }
    done = subprocess.run(
        [sys.executable, "-m", tool, *arguments],
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        said = " ".join((done.stderr or done.stdout).split())[-300:] or "nothing"
        problem = f"printed no JSON (exit status {done.returncode}): {said}."
        raise BadInputError("failbench.crashes", tool, problem, INSTALL) from error


def for_each(
    predict: Callable[[Question], CrashPrediction], questions: Sequence[Question]
) -> list[CrashPrediction]:
    """Predict for each question, in as many processes at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(predict, questions))


def versions_of(tool: Tool) -> str:
    """Versions of a tool, of Python and of the libraries that are there.

    Without what says how a library was built (``2.13.0+cpu``), on which no type depends.
    """
    known = {}
    for name in (tool, *LIBRARIES):
        try:
            known[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            if name == tool:
                raise BadInputError(
                    "failbench.crashes", tool, "is not installed.", INSTALL
                ) from None
    names = {tool: known.pop(tool), "python": platform.python_version(), **known}
    return ", ".join(f"{name} {number}" for name, number in names.items())
