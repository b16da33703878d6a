from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.statistics.paired_tests import (
    cohens_d,
    discordant,
    fewest_signs,
    paired_t,
    sign_test,
)


def first_repeat(both: int, left_only: int, right_only: int, neither: int) -> pl.DataFrame:
    counts = [both, left_only, right_only, neither]
    return pl.DataFrame(
        {
            "left": np.repeat([True, True, False, False], counts),
            "right": np.repeat([True, False, True, False], counts),
        }
    )


@pytest.mark.parametrize(("left_only", "right_only"), [(12, 4), (4, 12), (1, 0), (7, 7)])
def test_mcnemar_is_the_exact_binomial_test_of_the_discordant_scenarios(left_only, right_only):
    result = discordant(first_repeat(40, left_only, right_only, 10), ("left", "right"))
    expected = stats.binomtest(left_only, left_only + right_only).pvalue
    assert result == (left_only, right_only, pytest.approx(expected))


def test_mcnemar_of_methods_that_no_scenario_tells_apart_is_one():
    assert discordant(first_repeat(40, 0, 0, 36), ("left", "right")) == (0, 0, 1)


def test_the_legacy_test_is_the_paired_t_test_of_scipy():
    left, right = np.random.default_rng(0).random((2, 5))
    expected = stats.ttest_rel(left, right)
    assert paired_t(left, right) == pytest.approx((expected.statistic, expected.pvalue))


def test_the_legacy_test_of_folds_that_differ_alike_is_infinite():
    assert paired_t(np.full(5, 0.3), np.full(5, 0.6)) == (-np.inf, 0)


def test_cohens_d_is_the_t_of_scenario_differences_over_the_root_of_n():
    differences = np.random.default_rng(0).normal(0.2, 1, 76)
    expected = stats.ttest_1samp(differences, 0).statistic / np.sqrt(76)
    assert cohens_d(differences) == pytest.approx(expected)


@pytest.mark.parametrize(("difference", "d"), [(0.0, 0.0), (1.0, np.inf), (-1.0, -np.inf)])
def test_cohens_d_of_differences_that_are_all_alike(difference, d):
    assert cohens_d(np.full(76, difference)) == d


@pytest.mark.parametrize(("better", "worse", "same"), [(3, 1, 4), (8, 0, 0), (0, 6, 2)])
def test_the_sign_test_is_the_binomial_one_over_what_changed(better, worse, same):
    differences = np.repeat([0.2, -0.4, 0.0], [better, worse, same])
    expected = stats.binomtest(better, better + worse).pvalue
    assert sign_test(differences) == (better, worse, pytest.approx(expected))


def test_where_nothing_changed_or_all_are_too_few_the_sign_test_says_so():
    assert sign_test(np.zeros(8)) == (0, 0, 1.0)
    # two-sided, 2 * 0.5**5 is 0.0625 and 2 * 0.5**6 is 0.03125
    assert (fewest_signs(8, 0.05), fewest_signs(4, 0.05)) == (6, None)
