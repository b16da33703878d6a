from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score

from made_up_audit import check


def test_f1_is_that_of_the_counts_behind_precision_and_recall():
    truth = np.repeat([1, 0], [8, 68])
    guess = np.repeat([1, 0], [11, 65])
    counts = {"precision": "0.73", "recall": "1.00", "support": 8}
    actual = check("f_score", value="0.84", **counts)
    assert actual.verdict == "consistent"
    assert actual.low == actual.high == pytest.approx(f1_score(truth, guess))
    assert check("f_score", value="0.83", **counts).verdict == "inconsistent"


def test_precision_and_recall_that_no_counts_give_are_inconsistent():
    actual = check("f_score", value="0.95", precision="1.00", recall="0.90", support=15)
    assert actual.verdict == "inconsistent"
    assert "no counts" in actual.computed


def test_an_effect_may_be_of_scenarios_or_of_folds():
    over_scenarios = (0.8 - 0.5) / np.sqrt((0.25 + 0.16) / 2)
    means = {"means": ["50.0%", "80.0%"]}
    assert check("effect_size", value=f"{over_scenarios:.2f}", **means).verdict == "consistent"
    # over folds 0.30 / 0.06 = 5 pooled; paired at least 0.30 / 0.12
    deviations = {"deviations": ["6.0%", "6.0%"]}
    assert check("effect_size", value="5.00", **means, **deviations).verdict == "consistent"
    assert check("effect_size", value="2.60", **means, **deviations).verdict == "consistent"
    assert check("effect_size", value="1.85", **means, **deviations).verdict == "inconsistent"


def test_an_effect_over_folds_without_their_deviations_cannot_be_checked():
    actual = check("effect_size", value="3.00", means=["50.0%", "80.0%"])
    assert actual.verdict == "cannot be checked"
    assert "10.0 points" in actual.computed


@pytest.mark.parametrize(("effect", "n", "fits"), [("0.62", 5, False), ("0.62", 76, True)])
def test_p_is_that_of_a_paired_t_test_with_this_effect(effect, n, fits):
    differences = np.random.default_rng(0).normal(size=n)
    differences += float(effect) * differences.std(ddof=1) - differences.mean()
    p = stats.ttest_1samp(differences, 0).pvalue
    assert (p < 0.05) == fits
    actual = check("paired_t", effect=effect, n=n)
    assert (actual.verdict == "consistent") == fits
    assert float(actual.computed.split("p = ")[1]) == pytest.approx(p, abs=2e-3)


def test_equal_accuracies_cannot_differ_significantly():
    values = {"a": "57.1%", "b": "61.8%"}
    assert check("ties", values=values, n=76).verdict == "consistent"
    tied = check("ties", values=values | {"c": "61.8%"}, n=76)
    assert (tied.verdict, tied.computed) == ("inconsistent", "equal as printed: b and c")


@pytest.mark.parametrize(
    ("relation", "value", "rate", "fits"),
    [
        ("above", "55.3%", "20/100", True),
        ("above", "26.3%", "20/76", False),
        ("equal", "26.3%", "30/100", True),
        ("equal", "55.3%", "20/100", False),
    ],
)
def test_a_rate_is_tested_against_another_exactly(relation, value, rate, fits):
    actual = check("binomial", value=value, n=76, relation=relation, rate=rate)
    assert (actual.verdict == "consistent") == fits
