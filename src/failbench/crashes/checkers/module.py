"""A question as one module of Python, for tools that check files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from failbench.crashes.question import Question

BETWEEN: Final = "\n\n"
"""Ends a cell and leaves a line empty, so that no cell goes on in the next one."""


@dataclass(frozen=True)
class CodeModule:
    """The code of a question."""

    text: str
    before: int

    def line_of_target(self, line: int) -> int | None:
        """The line of the target, counted from 1, that a line of the module is; None before it."""
        return line - self.before if line > self.before else None


def module_of(question: Question) -> CodeModule:
    r"""The module of a question; line ends are those that Python takes them for.

    >>> module_of(Question(("x = 1", "x = 2\r\n"), "print(x)"))
    CodeModule(text='x = 1\n\nx = 2\n\n\nprint(x)\n', before=5)
    """
    past = "".join(_with_newlines(cell) + BETWEEN for cell in question.executed)
    return CodeModule(past + _with_newlines(question.target) + "\n", past.count("\n"))


def _with_newlines(code: str) -> str:
    return code.replace("\r\n", "\n").replace("\r", "\n")
