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
    rows = interactions(
        scores,
        ("a", "b"),
        "a+b",
        1000,
        0.95,
        0,
        feature_set="19",
        method="made_up",
        unaided="nothing",
    )
    return {row.baseline: row for row in rows}


def test_groups_that_tell_different_scenarios_apart_add_up_exactly():
    surplus = measure({0, 1}, {2}, {0, 1, 2})["nothing"]
    assert surplus.value == pytest.approx(0, abs=1e-12)
    assert (surplus.first, surplus.second, surplus.both) == pytest.approx((2 / 6, 1 / 6, 3 / 6))
    assert (surplus.p, surplus.verdict) == (1, "not shown")


def test_groups_that_are_right_only_together_are_superadditive():
    surplus = measure(set(), set(), {0, 1, 2, 3})["nothing"]
    assert surplus.value == pytest.approx(4 / 6)
    assert 0 < surplus.ci_low < surplus.value < surplus.ci_high
    assert surplus.verdict == "superadditive"


def test_a_baseline_shifts_value_and_interval_alike():
    by_baseline = measure({0, 1}, {1, 2}, {0, 1, 2})
    nothing, chance = by_baseline["nothing"], by_baseline["chance"]
    for name in ("value", "ci_low", "ci_high"):
        assert getattr(chance, name) - getattr(nothing, name) == pytest.approx(0.2)
    assert by_baseline["majority"].baseline_value == pytest.approx(1 / 5)
    assert by_baseline["majority"].value == pytest.approx(chance.value)
    assert [row.baseline for row in by_baseline.values() if row.unaided] == ["nothing"]


def test_the_papers_figures_add_up_to_less_over_nothing_and_to_more_over_the_majority():
    by_baseline = {
        row.baseline: row
        for row in reported_interactions(
            0.263, 0.250, 0.474, 76, 20 / 76, 0.95, "improved_rules", "nothing"
        )
    }
    assert by_baseline["nothing"].value == pytest.approx(-0.039)
    assert by_baseline["nothing"].verdict == "not shown"
    assert by_baseline["majority"].value == pytest.approx(-0.039 + 20 / 76)
    assert by_baseline["majority"].verdict == "superadditive"
    variance = (0.263 * 0.737 + 0.25 * 0.75 + 0.474 * 0.526) / 76
    low, high = stats.norm.interval(0.95, by_baseline["chance"].value, variance**0.5)
    assert (by_baseline["chance"].ci_low, by_baseline["chance"].ci_high) == pytest.approx(
        (low, high)
    )
