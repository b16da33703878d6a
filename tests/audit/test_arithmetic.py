from __future__ import annotations

import math

import numpy as np
import pytest

from made_up_audit import check

MIXTURE = {"weights": ["30/100", "50/100", "20/100"], "values": ["50/100", "75/100", "90/100"]}
PARTS = {"weights": ["48%", "27%", "25%"], "values": ["95%", "95.7%"]}

CASES = [
    ("sum", {"parts": [20, 15, 18, 15, 8]}, 76, 75),
    ("sum", {"parts": ["48%", "15%", "10%", "3%", "0.5±0.5%"]}, "76%", "100%"),
    ("difference", {"minuend": "95.7%", "subtrahend": "57.1%"}, "38.6 points", "33.9 points"),
    ("ratio", {"numerator": 47, "denominator": 53}, "88.7%", "88.6%"),
    ("relative_gain", {"higher": "26.3%", "lower": "20/100"}, "31%", "20%"),
    ("weighted_mean", MIXTURE, "70.5%", "72%"),
    ("mixture_deviation", MIXTURE, "14.6%", "12%"),
    ("missing_member", PARTS | {"mean": "87.4%"}, "64%", "72%"),
    ("exponential", {"exponent": "3.8"}, 45, 47.2e2),
    ("span", {"values": ["61.84%", "63.16%", "60.53%"]}, "2.6 points", "1.3 points"),
    ("deviation", {"values": [1, 2, 3, 4]}, "1.1", "1.4"),
    ("orders", {"higher": 2847, "lower": "1.2"}, 3, 4),
    ("variance", {"mean": "0.4", "lowest": 0, "highest": "1.2"}, "0.32", "0.34"),
    ("sigma_threshold", {"lowest": "0.8", "highest": "1.2", "sigmas": 3}, "1.6", "1.7"),
]


@pytest.mark.parametrize(("kind", "figures", "right", "wrong"), CASES)
def test_a_formula_has_both_verdicts(kind, figures, right, wrong):
    wrong = f"{wrong:.0f}" if isinstance(wrong, float) else wrong
    assert check(kind, value=right, **figures).verdict == "consistent"
    assert check(kind, value=wrong, **figures).verdict == "inconsistent"


def test_rounding_alone_is_never_held_against_a_claim():
    # 0.2649 + 0.2049 = 0.4698 rounds to 47 %, though the printed parts add up to 46 %
    assert check("sum", value="47%", parts=["26%", "20%"]).verdict == "consistent"
    assert check("sum", value="48%", parts=["26%", "20%"]).verdict == "inconsistent"


def test_the_mean_and_deviation_of_a_mixture_are_those_of_its_draws():
    values = np.repeat([0.5, 0.75, 0.9], [30, 50, 20])
    assert check("weighted_mean", value="70.5%", **MIXTURE).low == pytest.approx(values.mean())
    assert check("mixture_deviation", value="15%", **MIXTURE).low == pytest.approx(values.std())


def test_the_missing_member_restores_the_mean():
    found = check("missing_member", value="64%", mean="87.4%", **PARTS)
    middle = (0.874 - 0.48 * 0.95 - 0.27 * 0.957) / 0.25
    assert found.low < middle < found.high
    assert f"{100 * middle:.1f} %" == found.computed


def test_the_exponential_says_which_loss_would_fit():
    found = check("exponential", value="2.3e11", exponent="47.2")
    assert found.verdict == "inconsistent"
    assert f"{math.log(2.3e11):.2f}" in found.computed


def test_the_largest_mean_plus_three_deviations_of_a_range_is_reached_at_its_ends():
    shares = np.linspace(0, 1, 100_001)
    reached = 0.8 + 0.4 * (shares + 3 * np.sqrt(shares * (1 - shares)))
    found = check("sigma_threshold", value=1000, lowest="0.8", highest="1.2", sigmas=3)
    assert found.high == pytest.approx(reached.max())


def test_no_numbers_of_a_range_exceed_the_bound_of_their_variance():
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = rng.beta(*rng.uniform(0.1, 3, 2), size=20)
        mean, variance = values.mean(), values.var()
        found = check("variance", value=f"{variance:.9f}", mean=f"{mean:.9f}", lowest=0, highest=1)
        assert found.verdict == "consistent"
