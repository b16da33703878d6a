"""Pylint as it comes: whether it reports an error in the target."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from failbench.crashes.checkers.exceptions import Tool
from failbench.crashes.checkers.findings import Finding, prediction_of
from failbench.crashes.checkers.module import module_of, write_modules
from failbench.crashes.checkers.process import run_tool, versions_of
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question

TOOL: Final[Tool] = "pylint"

ERRORS: Final = ("error", "fatal")
"""Its categories E and F; the others are about style, and about what may be meant otherwise."""


def predict(question: Question) -> CrashPrediction:
    """Predict for one question; this starts pylint."""
    return predict_all([question])[0]


def predict_all(questions: Sequence[Question]) -> list[CrashPrediction]:
    """Predict for many questions by one process, each from a module of its own.

    Raises
    ------
    BadInputError
        If pylint is not installed, or fails.
    """
    modules = [module_of(question) for question in questions]
    with tempfile.TemporaryDirectory(prefix="failbench-") as name:
        folder = Path(name).resolve()
        paths = write_modules(modules, folder)
        settings = folder / "none.toml"  # else pylint would take those of the folders above
        settings.touch()
        files = [path.name for path in paths]
        arguments = ("--rcfile", str(settings), "--output-format", "json2", *files)
        report = run_tool(TOOL, arguments, folder, {"PYLINTHOME": name}) if paths else _NOTHING
    found: dict[str, list[Finding]] = {path.name: [] for path in paths}
    for raw in report["messages"]:
        if raw["type"] in ERRORS:
            found[raw["path"]].append(_finding(raw))
    return [
        prediction_of(TOOL, module, found[path.name])
        for module, path in zip(modules, paths, strict=True)
    ]


_NOTHING: Final[dict[str, list[dict[str, Any]]]] = {"messages": []}


def maker() -> str:
    """What an answer depends on: versions of the tool, of Python and of the libraries."""
    return versions_of(TOOL)


def _finding(raw: dict[str, Any]) -> Finding:
    message = str(raw["message"]).splitlines()[0]
    return Finding(raw["line"], raw["column"], raw["symbol"], message)
