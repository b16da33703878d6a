"""Formulas between printed figures, read by Python's parser: sums, quotients, means and bounds."""

# A claim agrees if some numbers that round to the given figures yield one that rounds to the
# claimed figure: rounding alone is never an inconsistency.

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from string import Formatter
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from failbench.base.arrays import Array
from failbench.publish.audit.figures import (
    ArithmeticCheck,
    Figure,
    Finding,
    Printed,
    over_rounding,
    range_finding,
    read_printed,
)

Number = float | Array  # a number, or a list of them

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


FormulaKind = Literal[  # kinds of formulas, as the table labels them
    "sum",
    "difference",
    "ratio",
    "relative_gain",
    "weighted_mean",
    "mixture_deviation",
    "missing_member",
    "exponential",
    "span",
    "deviation",
    "orders",
    "variance",
    "sigma_threshold",
]

RANGE = {"value", "low", "high"}  # names in the description of a formula besides its figures


def _read_term(raw: object) -> Printed | tuple[Printed, ...]:
    return tuple(map(read_printed, raw)) if isinstance(raw, list | tuple) else read_printed(raw)


Term = Annotated[Printed | tuple[Printed, ...], BeforeValidator(_read_term)]
"""A field that holds a printed figure, or a list of them."""


class Formula(ArithmeticCheck):
    """A figure, and the formula of other figures that should equal it."""

    kind: FormulaKind
    value: Figure
    formula: str
    where: dict[str, Term] = Field(min_length=1)
    least: str = ""
    exact: bool = False
    words: str = ""

    @model_validator(mode="after")
    def _can_be_computed(self) -> Self:
        expressions = [Expression.parse(text) for text in (self.formula, self.least) if text]
        named = set.union(*(expression.names for expression in expressions))
        in_words = {name for part in _expressions_in(self.words) for name in part.names} - RANGE
        for name in sorted((named | in_words) - set(self.where)):
            raise ValueError(f"{name!r} is named by a formula and is not under where")
        for name in sorted(set(self.where) - named):
            raise ValueError(f"{name!r} is under where and named by no formula")
        self.compare()
        return self

    def compare(self) -> Finding:
        """Whether the formula gives the claimed figure."""
        low, _ = self._range(self.least or self.formula)
        _, high = self._range(self.formula)
        numbers = self._named([figure.value for figure in self._figures()])
        numbers |= {"value": self.value.value, "low": low, "high": high}
        return range_finding(self.value, low, high, _filled_in(self.words, numbers, self.value))

    def _range(self, text: str) -> tuple[float, float]:
        expression = Expression.parse(text)
        figures = self._figures()
        if self.exact:
            figures = [Printed(figure.value) for figure in figures]
        return over_rounding(lambda numbers: expression.value(self._named(numbers)), figures)

    def _figures(self) -> list[Printed]:
        terms = (term if isinstance(term, tuple) else (term,) for term in self.where.values())
        return list(chain.from_iterable(terms))

    def _named(self, numbers: Sequence[float]) -> dict[str, Number]:
        remaining = iter(numbers)
        return {
            name: np.array(list(islice(remaining, len(term))))
            if isinstance(term, tuple)
            else next(remaining)
            for name, term in self.where.items()
        }


def _expressions_in(words: str) -> list[Expression]:
    return [Expression.parse(text) for _, text, _, _ in Formatter().parse(words) if text]


def _filled_in(words: str, numbers: Mapping[str, Number], value: Printed) -> str:
    parts = []
    for before, text, form, _ in Formatter().parse(words):
        parts.append(before)
        if text:
            number = Expression.parse(text).value(numbers)
            parts.append(format(number, form) if form else value.text(number))
    return "".join(parts)
