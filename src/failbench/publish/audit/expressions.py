"""Expressions: safe arithmetic for formulas between printed figures.

Python's parser reads them, and this module evaluates the syntax tree: only the given names and the
listed functions are available.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from failbench.base.arrays import Array

Number = float | Array
"""A number, or a list of them."""

OPERATORS: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def _dot(left: Array, right: Array) -> float:
    if len(left) != len(right):
        raise ValueError("there must be as many weights as values")
    return float(np.dot(left, right))


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "dot": _dot,
    "exp": math.exp,
    "len": len,
    "log": math.log,
    "log10": math.log10,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
    "std": lambda values: float(np.std(values)),
    "sum": sum,
}
"""By name: of numbers exp, log, log10 and sqrt; the others of lists (std by n, dot of two)."""


@dataclass(frozen=True)
class Expression:
    """An arithmetic expression."""

    text: str
    root: ast.expr

    @classmethod
    def parse(cls, text: str) -> Expression:
        """Parse an expression.

        >>> Expression.parse("(a - b) / b").value({"a": 3.0, "b": 2.0})
        0.5
        """
        try:
            root = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"{text!r} is no formula ({error.msg})") from error
        if not all(map(_allowed, ast.walk(root))):
            raise ValueError(
                f"{text!r} is no formula: it may hold numbers, names, + - * / ** and "
                f"{', '.join(FUNCTIONS)}"
            )
        return cls(text, root)

    @property
    def names(self) -> set[str]:
        """Names of its variables."""
        nodes = (node.id for node in ast.walk(self.root) if isinstance(node, ast.Name))
        return {name for name in nodes if name not in FUNCTIONS}

    def value(self, numbers: Mapping[str, Number]) -> float:
        """Evaluate the expression."""
        try:
            result = np.asarray(_evaluate(self.root, numbers))
        except (ArithmeticError, TypeError) as error:
            raise ValueError(f"{self.text!r} cannot be computed ({error})") from error
        if result.ndim > 0 or not np.isfinite(result):
            raise ValueError(f"{self.text!r} does not come to a number")
        return float(result)


def _allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        return known and not node.keywords
    return isinstance(node, ast.BinOp | ast.Name | ast.Load | ast.UnaryOp | ast.USub) or (
        isinstance(node, ast.operator) and type(node) in OPERATORS
    )


def _evaluate(node: ast.expr, numbers: Mapping[str, Number]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return numbers[node.id]
    if isinstance(node, ast.UnaryOp):
        return -_evaluate(node.operand, numbers)
    if isinstance(node, ast.BinOp):
        left, right = (_evaluate(side, numbers) for side in (node.left, node.right))
        return OPERATORS[type(node.op)](left, right)
    assert isinstance(node, ast.Call)  # nothing else is allowed
    assert isinstance(node.func, ast.Name)
    return FUNCTIONS[node.func.id](*(_evaluate(argument, numbers) for argument in node.args))
