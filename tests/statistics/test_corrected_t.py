from __future__ import annotations

import baycomp
import numpy as np
import pytest

from failbench.statistics.paired_tests import resampled_mean


@pytest.fixture
def differences():
    return np.random.default_rng(0).normal(0.04, 0.1, 50)


def test_mean_and_standard_error_equal_those_of_baycomp(differences):
    result = resampled_mean(differences, tested=15.2, trained=60.8)
    mean, variance, df = baycomp.CorrelatedTTest.compute_statistics(
        np.zeros(50), differences, runs=10
    )
    assert (result.mean, result.standard_error, result.df) == pytest.approx(
        (mean, np.sqrt(variance), df)
    )


def test_p_is_twice_the_tail_of_baycomps_posterior(differences):
    result = resampled_mean(differences, tested=15.2, trained=60.8)
    beyond = min(baycomp.two_on_single(np.zeros(50), differences, runs=10))
    assert result.p_value == pytest.approx(2 * beyond)


def test_no_difference_in_any_fold_has_a_p_of_one():
    result = resampled_mean(np.zeros(50), 15.2, 60.8)
    assert (result.statistic, result.p_value, result.interval(0.95)) == (0, 1, (0, 0))


def test_differences_that_are_alike_but_for_rounding_are_infinitely_significant():
    scores = np.array([0.3 - 0.2, 0.1, 0.2 - 0.1])
    assert len(set(scores)) > 1
    result = resampled_mean(-scores, 15.2, 60.8)
    assert (result.statistic, result.p_value) == (-np.inf, 0)
    assert result.interval(0.95) == (-0.1, -0.1)
