from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from failbench.statistics.kappa import fleiss_kappa, kappa_of_counts


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=40))
def test_kappa_of_counts_is_that_of_scikit_learn(pairs):
    counts = np.zeros((5, 5))
    for left, right in pairs:
        counts[left, right] += 1
    left, right = zip(*pairs, strict=True)
    actual = float(kappa_of_counts(counts))
    if len({*left, *right}) == 1:
        assert actual == 1.0  # where scikit-learn has no number
    else:
        assert actual == pytest.approx(cohen_kappa_score(left, right))


def test_fleiss_kappa_pools_the_answers_of_both():
    table = pl.DataFrame({"left": ["a", "a", "b", "b"], "right": ["a", "b", "b", "b"]})
    pooled = (3 / 8) ** 2 + (5 / 8) ** 2
    assert fleiss_kappa(table, "left", "right") == pytest.approx((0.75 - pooled) / (1 - pooled))
