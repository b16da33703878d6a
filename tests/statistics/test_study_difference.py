from __future__ import annotations

import polars as pl
import pytest

from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.pairs import study_difference

SETTINGS = BootstrapSettings(resamples=1000, confidence=0.95, seed=0)


def study(name: str, right: int, seeds: int = 1, folds: int = 2) -> pl.DataFrame:
    """Ten scenarios a category, of which the first ``right`` are diagnosed right."""
    rows = [
        {
            "study": name,
            "feature_set": "19",
            "method": "decision_tree",
            "repeat": 0,
            "fold": number % folds,
            "run_id": f"{category}_{number}-s{seed}",
            "scenario": f"{category}_{number}",
            "seed": seed,
            "category": category,
            "prediction": category if number < right else "abstain",
        }
        for category in CATEGORIES
        for number in range(10)
        for seed in range(seeds)
    ]
    return pl.DataFrame(rows)


def test_difference_is_of_the_mean_correctness_over_scenarios_however_folds_were_drawn():
    predictions = pl.concat([study("one", 7), study("other", 4, folds=5)])
    difference = study_difference(predictions, "one", "other", SETTINGS, "how much")
    assert (difference.value, difference.n, difference.estimand) == (
        pytest.approx(0.3),
        50,
        "how much",
    )
    assert difference.ci_low < 0.3 < difference.ci_high
    back = study_difference(predictions, "other", "one", SETTINGS, "how much")
    assert back.value == pytest.approx(-0.3)


def test_only_runs_that_both_studies_predict_count():
    more = study("other", 4, seeds=2).with_columns(
        prediction=pl.when(pl.col("run_id").str.ends_with("s1"))
        .then("category")
        .otherwise("prediction")
    )
    predictions = pl.concat([study("one", 7), more])
    difference = study_difference(predictions, "one", "other", SETTINGS, "how much")
    assert difference.value == pytest.approx(0.3)


def test_the_same_answers_differ_by_a_point_of_zero():
    predictions = pl.concat([study("one", 7), study("other", 7)])
    difference = study_difference(predictions, "one", "other", SETTINGS, "how much")
    assert (difference.value, difference.ci_low, difference.ci_high, difference.method) == (
        0,
        0,
        0,
        "point",
    )
