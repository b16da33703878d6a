"""Formulas between printed figures: sums, quotients, means, deviations and bounds.

A claim fits when some numbers that would be printed as the given figures yield one that would be
printed as the claimed figure: rounding alone is never held against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from string import Formatter
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from failbench.audit.check import Comparison, Finding, of_range
from failbench.audit.expressions import Expression, Number
from failbench.audit.printed_figures import Figure, Printed, over_rounding, read_printed

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
"""What the table calls a formula."""

RANGE = {"value", "low", "high"}
"""What the words of a formula may name besides its figures."""


def _read_term(raw: object) -> Printed | tuple[Printed, ...]:
    return tuple(map(read_printed, raw)) if isinstance(raw, list | tuple) else read_printed(raw)


Term = Annotated[Printed | tuple[Printed, ...], BeforeValidator(_read_term)]
"""A field that holds a printed figure, or a list of them."""


class Formula(Comparison):
    """A figure, and the formula of other figures that should give it.

    Attributes
    ----------
    kind
        What the table calls it.
    value
        The figure that is claimed.
    formula
        An expression of the names under ``where``; monotone in each figure, or at least with its
        extremes where figures are at an end of their rounding. See
        :mod:`failbench.audit.expressions`.
    where
        What the names stand for.
    least
        Another expression where the two are a range: the claim fits between ``least`` and
        ``formula``.
    exact
        Whether the figures are taken as printed, without the numbers that round to them.
    words
        What was computed, with expressions in braces; these may also name the claimed ``value`` and
        the range, ``low`` to ``high``. A format behind a colon is that of Python; without one a
        number has the unit of the value. The middle of the range where there are no words.
    """

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
        spoken = {name for part in _expressions_in(self.words) for name in part.names} - RANGE
        for name in sorted((named | spoken) - set(self.where)):
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
        return of_range(self.value, low, high, _spoken(self.words, numbers, self.value))

    def _figures(self) -> list[Printed]:
        """All figures under ``where``, in their order."""
        return [
            figure
            for term in self.where.values()
            for figure in (term if isinstance(term, tuple) else (term,))
        ]

    def _numbers(self, numbers: Sequence[float]) -> dict[str, Number]:
        """Numbers in the order of the figures, by name."""
        rest = iter(numbers)
        return {
            name: np.array(list(islice(rest, len(term)))) if isinstance(term, tuple) else next(rest)
            for name, term in self.where.items()
        }

    def _range(self) -> tuple[float, float]:
        """The figures that would fit."""
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


def _spoken(words: str, numbers: Mapping[str, Number], value: Printed) -> str:
    """The words with numbers in place of the expressions."""
    parts = []
    for before, text, form, _ in Formatter().parse(words):
        parts.append(before)
        if text:
            number = Expression.parse(text).value(numbers)
            parts.append(format(number, form) if form else value.text(number))
    return "".join(parts)
