import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.agreement import (
    fleiss_kappa,
    rank_agreement,
    weighted_kappa,
    weighted_tau,
)
from study_settings import BOOTSTRAP


def counted(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    counts = np.zeros((3, 3))
    np.add.at(counts, (left, right), 1)
    return counts


def test_kappa_equals_scikit_learn_on_any_leading_axes():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 3, (4, 40))
    right = np.where(rng.random((4, 40)) < 0.5, left, rng.integers(0, 3, (4, 40)))
    kappa = weighted_kappa(np.stack([counted(*pair) for pair in zip(left, right, strict=True)]))
    expected = [
        cohen_kappa_score(*pair, weights="quadratic", labels=[0, 1, 2])
        for pair in zip(left, right, strict=True)
    ]
    assert kappa == pytest.approx(expected)


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [(np.diag([3.0, 2.0, 1.0]), 1.0), (np.diag([5.0, 0.0, 0.0]), 0.0), (np.zeros((3, 3)), 0.0)],
)
def test_kappa_of_full_agreement_is_one_and_of_nothing_to_disagree_about_zero(counts, kappa):
    assert weighted_kappa(counts) == pytest.approx(kappa)


def test_tau_equals_scipy_on_scores_repeated_by_their_weights():
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 4, 20).astype(float), rng.normal(size=20).round(1)
    weights = rng.multinomial(20, np.full(20, 0.05), size=5).astype(float)
    expected = [
        stats.kendalltau(np.repeat(left, counts), np.repeat(right, counts)).statistic
        for counts in weights.astype(int)
    ]
    assert weighted_tau(left, right, weights) == pytest.approx(expected)


def test_the_interval_holds_the_value_of_scipy_and_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(2)
    rows = [(c, f"{c}_{n}", float(n % 5)) for c in CATEGORIES for n in range(8)]
    table = pl.DataFrame(rows, schema=["category", "scenario", "left"], orient="row")
    table = table.with_columns(right=pl.col("left") + pl.Series(3.0 * rng.normal(size=len(rows))))
    scores = pl.col("left"), pl.col("right"), BOOTSTRAP, "two scores"
    tau = rank_agreement(table, *scores)
    assert tau.value == pytest.approx(stats.kendalltau(table["left"], table["right"]).statistic)
    assert tau.ci_low < tau.value < tau.ci_high
    assert (tau.n, tau.resampling_unit) == (40, "scenario")
    assert rank_agreement(table.sample(fraction=1, shuffle=True, seed=3), *scores) == tau


def test_fleiss_kappa_pools_the_answers_of_both():
    table = pl.DataFrame({"left": ["a", "a", "b", "b"], "right": ["a", "b", "b", "b"]})
    pooled = (3 / 8) ** 2 + (5 / 8) ** 2
    assert fleiss_kappa(table, "left", "right") == pytest.approx((0.75 - pooled) / (1 - pooled))
