import math

import numpy as np
import pytest

from failbench.publish.audit.formulas import Expression
from made_up_audit import check

MIXTURE = {"shares": ["30/100", "50/100", "20/100"], "values": ["50/100", "75/100", "90/100"]}
PARTS = {"share": "25%", "shares": ["48%", "27%"], "values": ["95%", "95.7%"], "mean": "87.4%"}
BETWEEN = "sqrt(dot(shares, (values - dot(shares, values)) ** 2))"
MEMBER = "(mean - dot(shares, values)) / share"
VARIANCE = {"least": "0", "formula": "(highest - mean) * (mean - lowest)", "exact": True}
THRESHOLD = {
    "least": "lowest",
    "formula": "lowest + (highest - lowest) * (1 + sqrt(1 + sigmas ** 2)) / 2",
    "exact": True,
}

CASES = [
    ("sum", "sum(parts)", {"parts": [20, 15, 18, 15, 8]}, 76, 75),
    ("sum", "sum(parts)", {"parts": ["48%", "15%", "10%", "3%", "0.5±0.5%"]}, "76%", "100%"),
    ("difference", "a - b", {"a": "95.7%", "b": "57.1%"}, "38.6 points", "33.9 points"),
    ("ratio", "a / b", {"a": 47, "b": 53}, "88.7%", "88.6%"),
    ("relative_gain", "a / b - 1", {"a": "26.3%", "b": "20/100"}, "31%", "20%"),
    ("weighted_mean", "dot(shares, values)", MIXTURE, "70.5%", "72%"),
    ("mixture_deviation", BETWEEN, MIXTURE, "14.6%", "12%"),
    ("missing_member", MEMBER, PARTS, "64%", "72%"),
    ("exponential", "exp(loss)", {"loss": "3.8"}, 45, 4720),
    (
        "span",
        "max(values) - min(values)",
        {"values": ["61.84%", "63.16%", "60.53%"]},
        "2.6 points",
        "1.3 points",
    ),
    (
        "deviation",
        {"least": "std(values)", "formula": "std(values) * sqrt(4 / 3)", "exact": True},
        {"values": [1, 2, 3, 4]},
        ("1.1", "1.3"),
        ("1.0", "1.4"),
    ),
    (
        "orders",
        {"formula": "log10(higher / lower)", "exact": True},
        {"higher": 2847, "lower": "1.2"},
        ("3±0.5",),
        ("4±0.5", "2±0.5"),
    ),
    (
        "variance",
        VARIANCE,
        {"mean": "0.4", "lowest": 0, "highest": "1.2"},
        ("0.32", "0.1"),
        ("0.34",),
    ),
    (
        "sigma_threshold",
        THRESHOLD,
        {"lowest": "0.8", "highest": "1.2", "sigmas": 3},
        ("1.6", "0.9"),
        ("1.7", "0.7"),
    ),
]


@pytest.mark.parametrize(("kind", "formula", "where", "right", "wrong"), CASES)
def test_a_formula_has_both_verdicts(kind, formula, where, right, wrong):
    given = {"formula": formula} if isinstance(formula, str) else formula
    for values, verdict in ((right, "consistent"), (wrong, "inconsistent")):
        for value in values if isinstance(values, tuple) else (values,):
            assert check(kind, value=value, where=where, **given).verdict == verdict, value


def test_rounding_alone_is_never_held_against_a_claim():
    # 0.2649 + 0.2049 = 0.4698 rounds to 47 %, though the printed parts add up to 46 %
    parts = {"formula": "sum(parts)", "where": {"parts": ["26%", "20%"]}}
    assert check("sum", value="47%", **parts).verdict == "consistent"
    assert check("sum", value="48%", **parts).verdict == "inconsistent"
    assert check("sum", value="47%", exact=True, **parts).verdict == "inconsistent"


def test_means_and_deviations_are_those_of_draws_and_the_missing_member_restores_the_mean():
    values = np.repeat([0.5, 0.75, 0.9], [30, 50, 20])
    mean = check("weighted_mean", value="70.5%", formula="dot(shares, values)", where=MIXTURE)
    assert mean.low == pytest.approx(values.mean())
    deviation = check("mixture_deviation", value="15%", formula=BETWEEN, where=MIXTURE)
    assert deviation.low == pytest.approx(values.std())
    given = {"value": "64%", "formula": MEMBER, "where": PARTS}
    finding = check("missing_member", **given, words=f"{{{MEMBER}}}")
    middle = (0.874 - 0.48 * 0.95 - 0.27 * 0.957) / 0.25
    assert finding.low < middle < finding.high
    assert f"{100 * middle:.1f} %" == finding.computed


LISTS = {"shares": np.array([0.3, 0.7]), "values": np.array([1.0, 2.0])}


@pytest.mark.parametrize(
    ("text", "numbers", "expected"),
    [
        ("exp(a)", {"a": 3.8}, math.exp(3.8)),
        ("a - b / c", {"a": 1.0, "b": 3.0, "c": 4.0}, 0.25),
        ("-(a + 2) ** 2", {"a": 1.0}, -9),
        ("sqrt(exp(log(a)) * log10(100))", {"a": 8.0}, 4),
        ("sum(values) / len(values)", LISTS, 1.5),
        ("max(values) - min(values) + dot(shares, values)", LISTS, 2.7),
        ("sum((values - 1) ** 2)", LISTS, 1),
    ],
)
def test_an_expression_comes_to_what_a_hand_computes(text, numbers, expected):
    expression = Expression.parse(text)
    assert expression.value(numbers) == pytest.approx(expected)
    assert expression.names == {name for name in numbers if name in text}


NO_FORMULAS = (
    *("__import__('os')", "a.real", "values[0]", "round(a)", "(lambda: 1)()", "a if a else b"),
    *("a % b", "a > b", "'a'", "True", "dot(left=a)", "[a, b]", "", "a +"),
)


@pytest.mark.parametrize("text", NO_FORMULAS)
def test_anything_but_arithmetic_is_refused(text):
    with pytest.raises(ValueError, match="is no formula"):
        Expression.parse(text)
