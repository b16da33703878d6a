"""Formulas between printed figures: sums, quotients, means, deviations and bounds.

A claim agrees if some numbers that round to the given figures yield one that rounds to the claimed
figure: rounding alone is never an inconsistency.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from string import Formatter
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from failbench.publish.audit.check import ArithmeticCheck, Finding, range_finding
from failbench.publish.audit.expressions import Expression, Number
from failbench.publish.audit.printed_figures import Figure, Printed, over_rounding, read_printed

FormulaKind = Literal[
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
"""Kinds of formulas, as the table labels them."""

RANGE = {"value", "low", "high"}
"""Names in the description of a formula besides its figures."""


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
        low, high = self._range()
        numbers = {
            **self._numbers([figure.value for figure in self._figures()]),
            "value": self.value.value,
            "low": low,
            "high": high,
        }
        return range_finding(self.value, low, high, _filled_in(self.words, numbers, self.value))

    def _figures(self) -> list[Printed]:
        """All figures under ``where``, in their order."""
        return [
            figure
            for term in self.where.values()
            for figure in (term if isinstance(term, tuple) else (term,))
        ]

    def _numbers(self, numbers: Sequence[float]) -> dict[str, Number]:
        """Numbers in the order of the figures, by name."""
        remaining = iter(numbers)
        return {
            name: np.array(list(islice(remaining, len(term))))
            if isinstance(term, tuple)
            else next(remaining)
            for name, term in self.where.items()
        }

    def _range(self) -> tuple[float, float]:
        """The range of figures that agree."""
        low, _ = self._over_rounding(self.least or self.formula)
        _, high = self._over_rounding(self.formula)
        return low, high

    def _over_rounding(self, text: str) -> tuple[float, float]:
        expression = Expression.parse(text)

        def value(numbers: Sequence[float]) -> float:
            return expression.value(self._numbers(numbers))

        figures = self._figures()
        if self.exact:
            figures = [Printed(figure.value) for figure in figures]
        return over_rounding(value, figures)


def _expressions_in(words: str) -> list[Expression]:
    """The expressions in the braces."""
    return [Expression.parse(text) for _, text, _, _ in Formatter().parse(words) if text]


def _filled_in(words: str, numbers: Mapping[str, Number], value: Printed) -> str:
    """The description with numbers in place of the expressions."""
    parts = []
    for before, text, form, _ in Formatter().parse(words):
        parts.append(before)
        if text:
            number = Expression.parse(text).value(numbers)
            parts.append(format(number, form) if form else value.text(number))
    return "".join(parts)
