from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from failbench.statistics.paired_tests import Stability, stability

MARGIN = 0.1


def answers(scores: dict[str, np.ndarray], runs: int = 20) -> pl.DataFrame:
    """Answers whose share of right ones a scenario is as given, in twentieths."""
    rows = [
        {
            "architecture": name,
            "scenario": f"s{number}",
            "category": "optimization",
            "prediction": "optimization" if run < round(score * runs) else "abstain",
        }
        for name, values in scores.items()
        for number, score in enumerate(values)
        for run in range(runs)
    ]
    return pl.DataFrame(rows)


def compared(scores: dict[str, np.ndarray], margin: float = MARGIN) -> Stability:
    return stability(answers(scores), "architecture", margin, confidence=0.95, power=0.8)


@pytest.fixture(scope="module")
def scores() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    common = rng.integers(2, 18, 40)
    return {name: (common + rng.integers(-2, 3, 40)) / 20 for name in ("bert", "gru", "lstm")}


def test_difference_from_the_others_is_the_paired_t_of_scipy(scores):
    comparison = compared(scores).against_others["gru"]
    others = (scores["bert"] + scores["lstm"]) / 2
    expected = stats.ttest_rel(scores["gru"], others)
    bounds = expected.confidence_interval(0.95)
    assert (comparison.value, comparison.n) == (pytest.approx((scores["gru"] - others).mean()), 40)
    assert comparison.p == pytest.approx(expected.pvalue)
    assert (comparison.ci_low, comparison.ci_high) == pytest.approx((bounds.low, bounds.high))


def test_equivalence_is_that_of_statsmodels_and_of_the_least_alike_pair(scores):
    expected = [
        ttost_paired(scores[first], scores[second], -MARGIN, MARGIN)[0]
        for first, second in (("bert", "gru"), ("bert", "lstm"), ("gru", "lstm"))
    ]
    stability = compared(scores)
    assert stability.p_equivalence == pytest.approx(max(expected))
    assert stability.shown
    means = [values.mean() for values in scores.values()]
    assert stability.spread == pytest.approx(max(means) - min(means))


def test_smallest_margin_is_where_the_verdict_turns(scores):
    smallest = compared(scores).smallest_margin
    assert not compared(scores, smallest - 1e-6).shown
    assert compared(scores, smallest + 1e-6).shown


def test_no_difference_found_is_not_stability():
    rng = np.random.default_rng(3)
    wild = {name: rng.integers(0, 2, 10).astype(float) for name in ("bert", "gru")}
    stability = compared(wild)
    assert stability.against_others["bert"].p > 0.05
    assert not stability.shown


def test_scenarios_that_lack_a_condition_are_left_out(scores):
    shorter = scores | {"gru": scores["gru"][:-1]}
    stability = compared(shorter)
    assert stability.n == 39
    assert stability.spread == compared({n: values[:-1] for n, values in scores.items()}).spread
