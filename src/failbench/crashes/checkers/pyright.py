"""Pyright as it comes: whether it reports an error in the target."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from failbench.crashes.checkers.exceptions import Tool
from failbench.crashes.checkers.findings import Finding, prediction_of
from failbench.crashes.checkers.module import module_of
from failbench.crashes.checkers.process import MODULE, for_each, run_tool, versions_of
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question

TOOL: Final[Tool] = "pyright"

SYNTAX: Final = "syntax"
"""What an error without a rule is called here: pyright gives none to those of its parser."""


def predict(question: Question) -> CrashPrediction:
    """Predict for a question, by a process that is asked nothing else."""
    module = module_of(question)
    with tempfile.TemporaryDirectory(prefix="failbench-") as name:
        folder = Path(name).resolve()
        (folder / MODULE).write_text(module.text, encoding="utf-8", newline="")
        # Without a file of settings pyright would look for one in the folders above.
        (folder / "pyrightconfig.json").write_text("{}", encoding="utf-8")
        arguments = ("--project", str(folder), "--outputjson", "--pythonpath", sys.executable)
        quiet = {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}  # does not ask for newer versions
        report = run_tool(TOOL, arguments, folder, quiet)
    errors = [raw for raw in report["generalDiagnostics"] if raw["severity"] == "error"]
    return prediction_of(TOOL, module, map(_finding, errors))


def predict_all(questions: Sequence[Question]) -> list[CrashPrediction]:
    """Predict for many questions.

    A process for each: what pyright infers of a module depends on what else it was asked, and one
    process for all answered 1 of the 148 development questions otherwise.
    """
    return for_each(predict, questions)


def maker() -> str:
    """What an answer depends on: versions of the tool, of Python and of the libraries."""
    return versions_of(TOOL)


def _finding(raw: dict[str, Any]) -> Finding:
    start = raw["range"]["start"]
    message = raw["message"].splitlines()[0]
    return Finding(start["line"] + 1, start["character"], raw.get("rule", SYNTAX), message)
