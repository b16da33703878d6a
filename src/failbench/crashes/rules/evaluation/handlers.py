"""What evaluates expressions and statements, by the kinds of their nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

from failbench.crashes.rules.evaluation.outcome import Outcome
from failbench.crashes.rules.knowledge.state import State
from failbench.crashes.rules.knowledge.values import Value

Expression = Callable[[Any, State], Value]
Statement = Callable[[Any, State], Outcome | None]

EXPRESSIONS: Final = (
    "literals", "names", "operations", "functions", "comprehensions", "assignment",
)  # fmt: skip
STATEMENTS: Final = ("statements", "branches", "loops", "definitions")
"""Modules with HANDLERS; they are imported when first asked, as they evaluate what nodes hold."""


@cache
def expressions() -> dict[type[ast.expr], Expression]:
    """Functions from an expression to its value."""
    return _collected(EXPRESSIONS)


@cache
def statements() -> dict[type[ast.stmt], Statement]:
    """Functions from a statement to how it ends; None if the next one follows."""
    return _collected(STATEMENTS)


def _collected(modules: tuple[str, ...]) -> dict[Any, Any]:
    collected: dict[Any, Any] = {}
    for module in modules:
        collected.update(import_module(f"failbench.crashes.rules.evaluation.{module}").HANDLERS)
    return collected
