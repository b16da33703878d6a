from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from failbench.statistics.paired_tests import (
    ResampledMean,
    detectable_effect,
    equivalence,
    resampled_mean,
)


def test_without_the_correction_it_is_the_paired_tost_of_statsmodels():
    left, right = np.random.default_rng(0).normal(0.6, 0.1, (2, 50))
    expected, *_ = ttost_paired(left, right, -0.03, 0.03)
    plain = resampled_mean(left - right, tested=0, trained=60)
    assert equivalence(plain, 0.03, 0.05).p == pytest.approx(expected)


@pytest.mark.parametrize("mean", [-0.03, 0.0, 0.03])
def test_equivalence_is_shown_when_the_ninety_percent_interval_lies_within_the_margin(mean):
    difference = ResampledMean(mean, 0.02, 49)
    widest = max(map(abs, difference.interval(0.90)))
    assert equivalence(difference, widest + 1e-9, 0.05).shown
    assert not equivalence(difference, widest - 1e-9, 0.05).shown


def test_at_the_smallest_margin_p_is_the_level():
    difference = ResampledMean(0.04, 0.05, 49)
    smallest = equivalence(difference, 0.10, 0.05).smallest_margin
    assert equivalence(difference, smallest, 0.05).p == pytest.approx(0.05)


def test_identical_methods_are_equivalent_at_any_margin():
    result = equivalence(ResampledMean(0.0, 0.0, 49), 0.10, 0.05)
    assert (result.p, result.shown, result.smallest_margin) == (0, True, 0)
    apart = equivalence(ResampledMean(1.0, 0.0, 49), 0.10, 0.05)
    assert (apart.p, apart.shown) == (1, False)


def test_the_detectable_effect_is_found_with_the_power_asked_for():
    effect = detectable_effect(49, 0.05, 0.80)
    critical = stats.t.isf(0.025, 49)
    power = stats.nct.sf(critical, 49, effect) + stats.nct.cdf(-critical, 49, effect)
    assert power == pytest.approx(0.80)
    assert detectable_effect(49, 0.05, 0.90) > effect
    assert detectable_effect(49, 0.01, 0.80) > effect
