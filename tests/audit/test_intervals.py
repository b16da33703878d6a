from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from failbench.publish.audit.intervals import implied_n
from made_up_audit import check


def printed(low, high):
    return [f"{100 * low:.1f}%", f"{100 * high:.1f}%"]


@pytest.mark.parametrize("method", ["normal", "wilson", "beta"])
@pytest.mark.parametrize("right", [38, 47, 60])
def test_usual_intervals_of_n_are_consistent_and_narrower_ones_are_not(method, right):
    low, high = proportion_confint(right, 76, method=method)
    value = f"{100 * right / 76:.1f}%"
    assert check("rate_interval", value=value, interval=printed(low, high), n=76).verdict == (
        "consistent"
    )
    narrow = printed(low + 0.04, high - 0.04)
    assert check("rate_interval", value=value, interval=narrow, n=76).verdict == "inconsistent"


def test_percentiles_of_the_bootstrap_are_those_of_resampled_answers():
    answers = np.repeat([1.0, 0.0], [22, 1])
    rng = np.random.default_rng(0)
    means = rng.choice(answers, (4000, 23)).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    assert printed(low, high) == ["87.0%", "100.0%"]
    interval = {"value": "95.7%", "interval": ["87.0%", "100.0%"]}
    assert check("rate_interval", **interval, n=23).verdict == "consistent"
    of_76 = check("rate_interval", **interval, n=76)
    assert of_76.verdict == "inconsistent"
    assert of_76.implied_n == 21
    assert (of_76.low, of_76.high) == pytest.approx(proportion_confint(73, 76, method="wilson"))


@pytest.mark.parametrize("n", [20, 76, 380])
def test_the_implied_n_is_that_of_a_wald_interval(n):
    low, high = proportion_confint(0.6 * n, n, method="normal")
    assert implied_n(0.6, (high - low) / 2, 0.95) == n
    assert implied_n(0.6, 0.0, 0.95) is None


def test_an_interval_of_a_mean_over_folds_reaches_t_or_z_deviations_over_root_k():
    for multiple in (stats.t.isf(0.025, 4), stats.norm.isf(0.025)):
        half = multiple * 0.05 / np.sqrt(5)
        right = check(
            "deviation_interval",
            value="80.0%",
            interval=printed(0.8 - half, 0.8 + half),
            deviation="5.0%",
            folds=5,
        )
        assert right.verdict == "consistent"
    one_deviation = check(
        "deviation_interval", value="87.0%", interval=["84.9%", "89.1%"], deviation="2.1%", folds=5
    )
    assert one_deviation.verdict == "inconsistent"
    assert one_deviation.computed.startswith("reaches 1.00 sd")


@pytest.mark.parametrize(
    ("half", "fits"), [(0.12, False), (0.14, True), (0.30, True), (0.35, False)]
)
def test_the_width_of_a_difference_is_bounded_by_those_of_its_parts(half, fits):
    # reaches of 0.22 and 0.09: from 0.13 to 0.31
    actual = check(
        "gap_interval",
        interval=[f"{100 * end:.1f} points" for end in (0.386 - half, 0.386 + half)],
        first=["57.0%", "35.0%", "79.0%"],
        second=["96.0%", "87.0%", "100.0%"],
    )
    assert (actual.verdict == "consistent") == fits


def test_the_interval_of_f1_is_that_of_resampled_scenarios():
    # 8 right, 3 false alarms: 0.84; resampling gives about 0.60 to 1.00
    counts = {"right": 8, "missed": 0, "false_alarms": 3, "n": 76}
    actual = check("score_interval", interval=["0.60", "1.00"], **counts)
    assert actual.verdict == "consistent"
    assert actual.value == pytest.approx(16 / 19)
    assert check("score_interval", interval=["0.75", "0.93"], **counts).verdict == "inconsistent"


def test_overlapping_intervals_are_named():
    intervals = {"a": ["10%", "20%"], "b": ["20%", "30%"], "c": ["25%", "40%"]}
    actual = check("disjoint", intervals=intervals)
    assert (actual.verdict, actual.computed) == ("inconsistent", "overlapping: b and c")
    del intervals["c"]
    assert check("disjoint", intervals=intervals).verdict == "consistent"
