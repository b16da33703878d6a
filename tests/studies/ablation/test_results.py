"""Rates, differences and interactions of a small ablation."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.methods.signal_groups import ALL_GROUPS
from failbench.studies.ablation.results import ablation_points, ablation_results
from made_up_ablation import SETTINGS, accuracy


@pytest.fixture(scope="module")
def results(predictions):
    return ablation_results(predictions, SETTINGS)


def test_every_subset_but_all_is_held_against_all_in_one_family(results):
    for variant in results:
        assert {comparison.right for comparison in variant.comparisons} == {ALL_GROUPS}
        assert len(variant.comparisons) == variant.rates["subset"].n_unique() - 1
        assert all(comparison.reported_p >= comparison.p for comparison in variant.comparisons)


def test_points_are_the_rates_with_the_difference_of_accuracy_beside_them(results, predictions):
    points = ablation_points(results)
    row = points.filter(
        pl.col("method") == "random_forest",
        pl.col("feature_set") == "19",
        pl.col("subset") == "perplexity",
        pl.col("metric") == "accuracy",
    ).row(0, named=True)
    alone, whole = (
        accuracy(predictions, "random_forest", name) for name in ("perplexity", ALL_GROUPS)
    )
    assert row["value"] == pytest.approx(alone)
    assert row["difference"] == pytest.approx(alone - whole)
    assert row["difference_low"] <= row["difference"] <= row["difference_high"] < 0
    assert points.filter(pl.col("subset") == ALL_GROUPS)["difference"].null_count() == 2 * len(
        results
    )
