"""Pylint as it comes: whether it reports an error in the target."""

from __future__ import annotations

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

TOOL: Final[Tool] = "pylint"

ERRORS: Final = ("error", "fatal")
"""Its categories E and F; the others are about style, and about what may be meant otherwise."""


def predict(question: Question) -> CrashPrediction:
    """Predict for a question, by a process that is asked nothing else."""
    module = module_of(question)
    with tempfile.TemporaryDirectory(prefix="failbench-") as name:
        folder = Path(name).resolve()
        (folder / MODULE).write_text(module.text, encoding="utf-8", newline="")
        settings = folder / "none.toml"  # else pylint would take those of the folders above
        settings.touch()
        arguments = ("--rcfile", str(settings), "--output-format", "json2", MODULE)
        report = run_tool(TOOL, arguments, folder, {"PYLINTHOME": name})
    errors = [raw for raw in report["messages"] if raw["type"] in ERRORS]
    return prediction_of(TOOL, module, map(_finding, errors))


def predict_all(questions: Sequence[Question]) -> list[CrashPrediction]:
    """Predict for many questions, by a process for each as with pyright."""
    return for_each(predict, questions)


def maker() -> str:
    """What an answer depends on: versions of the tool, of Python and of the libraries."""
    return versions_of(TOOL)


def _finding(raw: dict[str, Any]) -> Finding:
    message = str(raw["message"]).splitlines()[0]
    return Finding(raw["line"], raw["column"], raw["symbol"], message)
