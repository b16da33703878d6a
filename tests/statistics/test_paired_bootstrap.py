from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import BATCH
from failbench.statistics.pairs import difference_bounds, paired_scores

RATES = {"a": 0.7, "b": 0.5, "c": 0.6}
OPTIONS = {"resamples": 2000, "confidence": 0.95, "seed": 0}


def test_bounds_equal_scipy_over_differences_resampled_within_categories(answers):
    scores = paired_scores(answers(RATES))
    samples = [
        (group["a"] - group["b"]).to_numpy()
        for group in scores.scenarios.partition_by("category", maintain_order=True)
    ]
    expected = stats.bootstrap(
        samples,
        lambda *parts, axis: (sum(part.sum(axis=axis) for part in parts) / 76).round(12),
        n_resamples=2000,
        batch=BATCH,
        vectorized=True,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    (bounds,) = difference_bounds(scores, [("a", "b")], **OPTIONS)
    assert bounds == pytest.approx(tuple(expected), abs=1e-9)


def test_a_pair_has_the_same_bounds_whatever_other_pairs_there_are(answers):
    scores = paired_scores(answers(RATES))
    alone = difference_bounds(scores, [("a", "b")], **OPTIONS)
    among = difference_bounds(scores, [("c", "b"), ("a", "b")], **OPTIONS)
    assert among[1] == alone[0]


def test_identical_methods_have_no_bounds(answers):
    assert difference_bounds(paired_scores(answers({"a": 1, "b": 1})), [("a", "b")], **OPTIONS) == [
        None
    ]


def test_a_category_with_one_scenario_is_refused(answers):
    predictions = answers(RATES).filter(
        (pl.col("category") != "unknown") | (pl.col("scenario") == "unknown_0")
    )
    with pytest.raises(BadInputError, match="unknown has a single scenario"):
        difference_bounds(paired_scores(predictions), [("a", "b")], **OPTIONS)


def test_seeds_that_agree_leave_the_bounds_and_seeds_that_do_not_widen_them(answers):
    once = answers(RATES, repeats=1)
    again = pl.concat(once.with_columns(seed=pl.lit(seed)) for seed in range(3))
    apart = paired_scores(answers(RATES, repeats=1, runs=3))
    of_means = paired_scores(answers(RATES, repeats=1, runs=3).with_columns(seed=pl.lit(0)))
    pair = [("a", "b")]
    (expected,) = difference_bounds(paired_scores(once), pair, **OPTIONS)
    (same,) = difference_bounds(paired_scores(again), pair, **OPTIONS)
    assert same == pytest.approx(expected, abs=1e-9)
    (wide,), (narrow,) = (
        difference_bounds(scores, pair, **OPTIONS) for scores in (apart, of_means)
    )
    assert wide[1] - wide[0] > 1.15 * (narrow[1] - narrow[0])
