from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.statistics.bootstrap import (
    drawn_seeds,
    seed_counts,
    single_seeds,
    unit_of,
)

RAGGED = np.array([3, 1, 2])
"""Three scenarios with so many seeds."""


def test_seeds_are_counted_once_whatever_their_runs_and_repeats():
    rows = pl.DataFrame(
        {"scenario": ["b", "a", "a", "a", "b"], "seed": [0, 0, 1, 1, 0], "repeat": [0, 0, 0, 1, 1]}
    )
    assert seed_counts(rows).tolist() == [2, 1]


def test_seeds_are_drawn_as_by_a_loop_over_the_draws_of_a_scenario():
    """Means and covariances of the weights of a scenario that was drawn twice, with three seeds."""
    rng = np.random.default_rng(0)
    drawn = np.array(
        [
            sum(np.bincount(rng.integers(0, 3, 3), minlength=3) / 3 for _ in range(2))
            for _ in range(20_000)
        ]
    )
    weights = drawn_seeds(np.full((20_000, 1), 2.0), np.array([3]), np.random.default_rng(1))
    assert weights.mean(axis=0) == pytest.approx(drawn.mean(axis=0), abs=0.01)
    assert np.cov(weights.T) == pytest.approx(np.cov(drawn.T), abs=0.01)
    assert {tuple(row) for row in weights.round(6)} == {tuple(row) for row in drawn.round(6)}


def test_where_scenarios_have_a_single_seed_nothing_is_drawn():
    rng = np.random.default_rng(0)
    counts = np.array([[2.0, 0.0, 1.0]])
    (seeds,) = single_seeds([3])
    assert drawn_seeds(counts, seeds, rng).tolist() == counts.tolist()
    assert rng.random() == np.random.default_rng(0).random()


def test_the_unit_is_named():
    assert unit_of(single_seeds([3, 2])) == "scenario"
    assert unit_of((*single_seeds([3]), RAGGED)) == "scenario, then seed"
