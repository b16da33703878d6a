"""Rates, differences and interactions of a small ablation."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.methods.signal_groups import ALL_GROUPS
from failbench.studies.ablation.results import ablation_metrics, ablation_points, ablation_results
from failbench.studies.ablation.superadditivity import reported_interactions
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


def test_metrics_have_rates_differences_and_interactions_of_each_variant(results):
    reported = reported_interactions(
        0.263, 0.250, 0.474, 76, 20 / 76, 0.95, "improved_rules", "nothing"
    )
    metrics = ablation_metrics(results, reported, 0.05)
    rate = metrics["rates"]["19"]["random_forest"]["memory"]["accuracy"]
    assert set(rate) == {"value", "ci_low", "ci_high", "n"}
    assert "memory_less_all" in metrics["less_all"]["19+keywords"]["random_forest"]
    assert set(metrics["interaction"]["measured"]["19"]) == {
        "improved_rules",
        "random_forest",
        "reduced_rules",
    }
    assert metrics["interaction"]["reported"]["over_nothing"]["verdict"] == "not shown"
    assert metrics["interaction"]["measured"]["19"]["random_forest"]["over_majority"]["own"]
    assert metrics["interaction"]["measured"]["19"]["reduced_rules"]["over_nothing"]["own"]
