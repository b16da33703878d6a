"""Pyright as it comes: whether it reports an error in the target."""

from __future__ import annotations

import sys
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

TOOL: Final[Tool] = "pyright"

SYNTAX: Final = "syntax"
"""What an error without a rule is called here: pyright gives none to those of its parser."""


def predict(question: Question) -> CrashPrediction:
    """Predict for one question; this starts pyright."""
    return predict_all([question])[0]


def predict_all(questions: Sequence[Question]) -> list[CrashPrediction]:
    """Predict for many questions by one process, each from a module of its own.

    Raises
    ------
    BadInputError
        If pyright is not installed, or fails.
    """
    modules = [module_of(question) for question in questions]
    with tempfile.TemporaryDirectory(prefix="failbench-") as name:
        folder = Path(name).resolve()
        paths = write_modules(modules, folder)
        # Without a file of settings pyright would look for one in the folders above.
        (folder / "pyrightconfig.json").write_text("{}", encoding="utf-8")
        arguments = ("--project", str(folder), "--outputjson", "--pythonpath", sys.executable)
        quiet = {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}  # does not ask for newer versions
        report = run_tool(TOOL, arguments, folder, quiet) if paths else {"generalDiagnostics": []}
    found: dict[str, list[Finding]] = {str(path): [] for path in paths}
    for raw in report["generalDiagnostics"]:
        if raw["severity"] == "error":
            found[raw["file"]].append(_finding(raw))
    return [
        prediction_of(TOOL, module, found[str(path)])
        for module, path in zip(modules, paths, strict=True)
    ]


def maker() -> str:
    """What an answer depends on: versions of the tool, of Python and of the libraries."""
    return versions_of(TOOL)


def _finding(raw: dict[str, Any]) -> Finding:
    start = raw["range"]["start"]
    message = raw["message"].splitlines()[0]
    return Finding(start["line"] + 1, start["character"], raw.get("rule", SYNTAX), message)
