"""Pyright and Pylint as they come: whether they report an error in the target.

Each question has a process of its own: what pyright infers depends on what else it was asked, and
one process for all answered 1 of the 148 development questions otherwise.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, packaged_rows
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question

Tool = Literal["pyright", "pylint"]
# of the notebooks
LIBRARIES: Final = ("numpy", "pandas", "scikit-learn", "matplotlib", "lightgbm", "torch")
MODULE: Final = "failbench_question.py"  # no code imports a module of this name
# ends a cell and leaves a line empty, so that no cell goes on in the next one
BETWEEN: Final = "\n\n"
SYNTAX: Final = "syntax"  # of errors without a rule: those of the parser of pyright
INSTALL: Final = "Install the extra: pip install -e '.[crashes]'."


class Implied(Record):
    """A row of ``data/exceptions.csv``: if the rule is right, Python raises this."""

    tool: Tool
    rule: str = Field(min_length=1)
    exception: str = Field(pattern=r"^[A-Z]\w+$")
    reason: str = Field(min_length=1)


@cache
def implied() -> tuple[Implied, ...]:
    """Which exceptions rules imply; a rule that is not there implies none."""
    return packaged_rows("failbench.crashes", "exceptions.csv", Implied)


@dataclass(frozen=True)
class CodeModule:
    """The code of a question, and how many lines of it come before the target."""

    text: str
    before: int


def module_of(question: Question) -> CodeModule:
    r"""The module of a question; line ends are those that Python takes them for.

    >>> module_of(Question(("x = 1", "x = 2\r\n"), "print(x)"))
    CodeModule(text='x = 1\n\nx = 2\n\n\nprint(x)\n', before=5)
    """
    past = "".join(_with_newlines(cell) + BETWEEN for cell in question.executed)
    return CodeModule(past + _with_newlines(question.target) + "\n", past.count("\n"))


def _with_newlines(code: str) -> str:
    return code.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True, order=True)
class Finding:
    """An error that a tool reports."""

    line: int
    column: int
    rule: str
    message: str


def prediction_of(tool: Tool, before: int, findings: Iterable[Finding]) -> CrashPrediction:
    """The first error that begins in the target: one before it stopped no kernel."""
    first = min((each for each in findings if each.line > before), default=None)
    if first is None:
        return CrashPrediction(False, None, f"{tool} reports no error in the target.")
    exceptions = {(row.tool, row.rule): row.exception for row in implied()}
    exception = exceptions.get((tool, first.rule))
    reason = f"{first.rule}: {first.message}"
    return CrashPrediction(True, exception, reason, first.line - before)


@dataclass(frozen=True)
class Checker:
    """A tool with settings that say nothing, as without any it takes those of folders above."""

    tool: Tool
    settings: str
    content: str
    arguments: tuple[str, ...]
    environment: tuple[str, str]
    errors: Callable[[Any], Iterable[Finding]]

    def predict(self, question: Question) -> CrashPrediction:
        """Predict for a question, by a process that is asked nothing else."""
        module = module_of(question)
        with tempfile.TemporaryDirectory(prefix="failbench-") as name:
            folder = Path(name).resolve()
            (folder / MODULE).write_text(module.text, encoding="utf-8", newline="")
            (folder / self.settings).write_text(self.content, encoding="utf-8")
            report = self._run(folder)
        return prediction_of(self.tool, module.before, self.errors(report))

    def predict_all(self, questions: Sequence[Question]) -> list[CrashPrediction]:
        """Predict for each question, in as many processes at a time as there are processors."""
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(self.predict, questions))

    def maker(self) -> str:
        """Versions of tool, Python and libraries, less how these were built (``2.13.0+cpu``)."""
        known = {}
        for name in (self.tool, *LIBRARIES):
            try:
                known[name] = version(name).partition("+")[0]
            except PackageNotFoundError:
                if name == self.tool:
                    raise self._unusable("is not installed.") from None
        names = {self.tool: known.pop(self.tool), "python": platform.python_version(), **known}
        return ", ".join(f"{name} {number}" for name, number in names.items())

    def _run(self, folder: Path) -> Any:
        """What the tool prints; its exit status says that it found something, and no more."""
        if find_spec(self.tool) is None:
            raise self._unusable("is not installed.")
        own, value = self.environment
        prefix = self.tool.upper()
        others = {name: said for name, said in os.environ.items() if not name.startswith(prefix)}
        arguments = [each.replace("{folder}", str(folder)) for each in self.arguments]
        done = subprocess.run(
            [sys.executable, "-m", self.tool, *arguments],
            cwd=folder,
            env={**others, own: value.replace("{folder}", str(folder))},
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            return json.loads(done.stdout)
        except ValueError as error:
            said = " ".join((done.stderr or done.stdout).split())[-300:] or "nothing"
            problem = f"printed no JSON (exit status {done.returncode}): {said}."
            raise self._unusable(problem) from error

    def _unusable(self, problem: str) -> BadInputError:
        return BadInputError("failbench.crashes", self.tool, problem, INSTALL)


def _errors_of_pyright(report: Any) -> Iterable[Finding]:
    for raw in report["generalDiagnostics"]:
        if raw["severity"] == "error":
            start, message = raw["range"]["start"], raw["message"].splitlines()[0]
            yield Finding(start["line"] + 1, start["character"], raw.get("rule", SYNTAX), message)


def _errors_of_pylint(report: Any) -> Iterable[Finding]:
    """Its categories E and F; others are about style, and what may be meant otherwise."""
    for raw in report["messages"]:
        if raw["type"] in ("error", "fatal"):
            message = str(raw["message"]).splitlines()[0]
            yield Finding(raw["line"], raw["column"], raw["symbol"], message)


PYRIGHT: Final = Checker(
    "pyright",
    "pyrightconfig.json",
    "{}",
    ("--project", "{folder}", "--outputjson", "--pythonpath", sys.executable),
    ("PYRIGHT_PYTHON_IGNORE_WARNINGS", "1"),  # does not ask for newer versions
    _errors_of_pyright,
)
PYLINT: Final = Checker(
    "pylint",
    "none.toml",
    "",
    ("--rcfile", "{folder}/none.toml", "--output-format", "json2", MODULE),
    ("PYLINTHOME", "{folder}"),
    _errors_of_pylint,
)
