"""Rescaling: features on the scale of other healthy runs."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.methods.band_features import band_features
from failbench.studies.portability.rescaling import (
    MOVED,
    RATIOS,
    adapted,
    band_of,
    changes,
    recalibrated,
)


@pytest.fixture(scope="module")
def home(successes):
    positive = [pl.col(name).abs() + 1.0 for name in RATIOS]
    return successes.with_columns(positive)


@pytest.fixture(scope="module")
def early(home):
    return home.with_columns(pl.col(name) * 0.5 for name in MOVED)


def test_every_feature_that_a_threshold_of_the_rules_is_on_is_moved():
    assert set(band_features()) <= set(MOVED)


def test_recalibrating_undoes_a_change_of_scale(home):
    away = home.with_columns(pl.col(name) * 7 + 3 for name in MOVED)
    moved = recalibrated(away, band_of(away), band_of(home))
    for name in MOVED:
        assert moved[name].to_numpy() == pytest.approx(home[name].to_numpy())
    assert moved.drop(MOVED).equals(home.drop(MOVED))


def test_changes_are_ratios_where_the_optimizer_sets_the_scale(home, early):
    changed = changes(home, early)
    assert changed["max_gradient_norm"].to_numpy() == pytest.approx(np.log(2))
    assert changed["mean_loss"].to_numpy() == pytest.approx(home["mean_loss"].to_numpy() / 2)


def test_adapting_does_not_see_a_factor_on_all_gradient_norms(home, early):
    rng = np.random.default_rng(0)
    then = early.with_columns(max_gradient_norm=pl.Series(rng.uniform(1, 2, early.height)))
    healthy, reference = band_of(changes(home, then)), band_of(home)
    factor = pl.col("max_gradient_norm") * 50
    moved = adapted(home.with_columns(factor), then.with_columns(factor), healthy, reference)
    as_it_was = adapted(home, then, healthy, reference)
    assert moved["max_gradient_norm"].to_numpy() == pytest.approx(
        as_it_was["max_gradient_norm"].to_numpy()
    )


def test_a_run_without_early_history_keeps_its_features(home, early):
    rng = np.random.default_rng(0)
    then = early.with_columns(mean_loss=pl.Series(rng.uniform(1, 2, early.height)))
    healthy, reference = band_of(changes(home, then)), band_of(home)
    moved = adapted(home, then.head(1), healthy, reference)
    kept = home.filter(~pl.col("run_id").is_in(then.head(1)["run_id"].to_list()))
    assert (
        moved.join(kept, on="run_id", how="semi")
        .select("mean_loss")
        .equals(kept.select("mean_loss"))
    )
