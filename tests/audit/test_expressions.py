from __future__ import annotations

import math

import numpy as np
import pytest

from failbench.publish.audit.formulas import Expression

LISTS = {"shares": np.array([0.3, 0.7]), "values": np.array([1.0, 2.0])}


@pytest.mark.parametrize(
    ("text", "numbers", "expected"),
    [
        ("a - b / c", {"a": 1.0, "b": 3.0, "c": 4.0}, 0.25),
        ("-(a + 2) ** 2", {"a": 1.0}, -9),
        ("1e3 * a", {"a": 0.5}, 500),
        ("sqrt(exp(log(a)) * log10(100))", {"a": 8.0}, 4),
        ("sum(values) / len(values)", LISTS, 1.5),
        ("max(values) - min(values) + dot(shares, values)", LISTS, 2.7),
        ("std(values)", LISTS, 0.5),
        ("sum((values - 1) ** 2)", LISTS, 1),
    ],
)
def test_an_expression_comes_to_what_a_hand_computes(text, numbers, expected):
    expression = Expression.parse(text)
    assert expression.value(numbers) == pytest.approx(expected)
    assert expression.names == {name for name in numbers if name in text}


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "a.real",
        "values[0]",
        "round(a)",
        "(lambda: 1)()",
        "a if a else b",
        "a % b",
        "a > b",
        "'a'",
        "True",
        "dot(left=a)",
        "[a, b]",
        "",
        "a +",
    ],
)
def test_anything_but_arithmetic_is_refused(text):
    with pytest.raises(ValueError, match="is no formula"):
        Expression.parse(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("values / 0 + a", "does not come to a number"),
        ("a / (a - a)", "cannot be computed"),
        ("log(-a)", "math domain error|positive"),
        ("values", "does not come to a number"),
        ("sum(a)", "cannot be computed"),
        ("dot(shares, values) + dot(longer, values)", "as many weights as values"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_expression_without_a_finite_value_is_an_error(text, problem):
    numbers = {**LISTS, "a": 1.0, "longer": np.ones(3)}
    with pytest.raises(ValueError, match=problem):
        Expression.parse(text).value(numbers)


def test_an_expression_has_the_precision_of_python():
    assert Expression.parse("exp(a)").value({"a": 3.8}) == math.exp(3.8)
