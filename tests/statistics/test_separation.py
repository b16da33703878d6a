"""Entropy, and how well a figure separates unknown scenarios from others."""

from __future__ import annotations

import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.confidence import entropy, separation
from made_up import made_up_predictions

SETTINGS = BootstrapSettings(resamples=1000, confidence=0.95, seed=0)


def entropies(*rows: tuple[float, ...]) -> list[float]:
    names = [f"p_{category}" for category in CATEGORIES]
    return pl.DataFrame(list(rows), schema=names, orient="row").select(entropy()).to_series()


def test_entropy_is_that_of_scipy_over_that_of_equal_odds():
    mixed = (0.5, 0.2, 0.2, 0.1, 0.0)
    values = entropies((0.2,) * 5, (1.0, 0.0, 0.0, 0.0, 0.0), mixed)
    assert values[0] == pytest.approx(1.0)
    assert values[1] == 0.0
    assert values[2] == pytest.approx(stats.entropy(mixed, base=5))


def test_separation_is_the_area_under_the_curve_of_scikit_learn():
    predictions = made_up_predictions(scenarios=8)
    means = predictions.group_by("scenario", "category").agg(pl.col("confidence").mean())
    area = separation(predictions, pl.col("confidence"), "unknown", SETTINGS)
    assert area.value == pytest.approx(
        roc_auc_score(means["category"] == "unknown", means["confidence"].round(12))
    )
    assert area.ci_low < area.value < area.ci_high
    assert area.n == 40


def test_what_separates_fully_is_one_and_what_is_the_same_everywhere_a_half():
    predictions = made_up_predictions(scenarios=4)
    full = separation(predictions, (pl.col("category") == "unknown"), "unknown", SETTINGS)
    assert (full.value, full.ci_low, full.ci_high, full.method) == (1.0, 1.0, 1.0, "point")
    none = separation(predictions, pl.lit(0.3), "unknown", SETTINGS)
    assert (none.value, none.method) == (0.5, "point")
    assert separation(
        predictions, -pl.col("confidence"), "unknown", SETTINGS
    ).value == pytest.approx(
        1 - separation(predictions, pl.col("confidence"), "unknown", SETTINGS).value
    )
