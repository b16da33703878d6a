"""The interaction of two groups of signals, on answers whose overlap is known."""

from __future__ import annotations

import polars as pl
import pytest
from scipy import stats

from failbench.statistics.paired_scores import paired_scores
from failbench.studies.ablation.superadditivity import interactions, reported_interactions
from failbench.vocabulary import CATEGORIES

PER_CATEGORY = 6
FOLDS = 3


def answers(first: set[int], second: set[int], both: set[int]) -> pl.DataFrame:
    """Two repeats; of each category the scenarios with these numbers are right."""
    return pl.DataFrame(
        [
            {
                "method": name,
                "repeat": repeat,
                "fold": (number + repeat) % FOLDS,
                "category": category,
                "scenario": f"{category}_{number}",
                "seed": 0,
                "prediction": category if number in right else "abstain",
            }
            for name, right in (("a", first), ("b", second), ("a+b", both))
            for repeat in range(2)
            for category in CATEGORIES
            for number in range(PER_CATEGORY)
        ]
    )


def measure(first: set[int], second: set[int], both: set[int]):
    scores = paired_scores(answers(first, second, both))
    found = interactions(
        scores, ("a", "b"), "a+b", 1000, 0.95, 0, feature_set="19", method="made_up", own="nothing"
    )
    return {one.baseline: one for one in found}


def test_groups_that_tell_different_scenarios_apart_add_up_exactly():
    found = measure({0, 1}, {2}, {0, 1, 2})["nothing"]
    assert found.value == pytest.approx(0, abs=1e-12)
    assert (found.first, found.second, found.both) == pytest.approx((2 / 6, 1 / 6, 3 / 6))
    assert (found.p, found.verdict) == (1, "not shown")


def test_groups_that_are_right_only_together_are_superadditive():
    found = measure(set(), set(), {0, 1, 2, 3})["nothing"]
    assert found.value == pytest.approx(4 / 6)
    assert 0 < found.ci_low < found.value < found.ci_high
    assert found.verdict == "superadditive"


def test_groups_that_know_the_same_are_subadditive():
    found = measure({0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3})["nothing"]
    assert found.value == pytest.approx(-4 / 6)
    assert found.verdict == "subadditive"


def test_a_baseline_shifts_value_and_interval_alike():
    found = measure({0, 1}, {1, 2}, {0, 1, 2})
    nothing, chance = found["nothing"], found["chance"]
    for name in ("value", "ci_low", "ci_high"):
        assert getattr(chance, name) - getattr(nothing, name) == pytest.approx(0.2)
    assert found["majority"].baseline_value == pytest.approx(1 / 5)
    assert found["majority"].value == pytest.approx(chance.value)
    assert [one.baseline for one in found.values() if one.own] == ["nothing"]


def test_the_two_groups_are_interchangeable():
    one, other = measure({0, 1}, {1, 5}, {0, 1, 2}), measure({1, 5}, {0, 1}, {0, 1, 2})
    assert one["chance"].value == other["chance"].value
    assert one["chance"].ci_low == other["chance"].ci_low


def test_the_papers_figures_add_up_to_less_over_nothing_and_to_more_over_the_majority():
    found = {
        one.baseline: one
        for one in reported_interactions(
            0.263, 0.250, 0.474, 76, 20 / 76, 0.95, "improved_rules", "nothing"
        )
    }
    assert found["nothing"].value == pytest.approx(-0.039)
    assert found["nothing"].verdict == "not shown"
    assert found["majority"].value == pytest.approx(-0.039 + 20 / 76)
    assert found["majority"].verdict == "superadditive"
    variance = (0.263 * 0.737 + 0.25 * 0.75 + 0.474 * 0.526) / 76
    low, high = stats.norm.interval(0.95, found["chance"].value, variance**0.5)
    assert (found["chance"].ci_low, found["chance"].ci_high) == pytest.approx((low, high))
