from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from failbench.base.errors import BadInputError
from failbench.statistics.intervals import (
    IntervalSettings,
    corrected_t,
    intervals_table,
    nest,
)
from made_up import made_up_predictions

SETTINGS = IntervalSettings(
    resamples=2000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=0,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)


def test_the_corrected_t_interval_follows_nadeau_and_bengio():
    predictions = made_up_predictions(repeats=10)
    right = predictions.with_columns(right=pl.col("prediction") == pl.col("category"))
    folds = right.group_by("repeat", "fold").agg(pl.col("right").mean())["right"].to_numpy()
    variance = folds.var(ddof=1) * (1 / 30 + 20 / 40)
    half = stats.t.ppf(0.975, 29) * np.sqrt(variance)
    interval = corrected_t(predictions, 0.95)
    assert (interval.value, interval.ci_low, interval.ci_high) == pytest.approx(
        (folds.mean(), folds.mean() - half, folds.mean() + half)
    )


def test_one_fold_has_no_corrected_t_interval():
    single_fold = made_up_predictions(repeats=1).with_columns(fold=pl.lit(0, pl.Int32))
    with pytest.raises(BadInputError, match="single fold"):
        corrected_t(single_fold, 0.95)


def test_the_metrics_file_nests_four_scalars_a_figure():
    table = intervals_table(made_up_predictions(), SETTINGS)
    nested = nest(table, "feature_set", "method", "metric")
    assert set(nested["19"]["made_up"]["accuracy"]) == {"value", "ci_low", "ci_high", "n"}
    assert nested["19"]["made_up"]["accuracy"]["n"] == 60
    assert set(table["resampling_unit"]) == {"scenario", "fold"}
    assert "calibration_floor" in nested["19"]["made_up"]
    assert table["estimand"].str.len_chars().min() > 10


def test_intervals_do_not_depend_on_the_number_of_workers():
    both = pl.concat(
        made_up_predictions(seed=seed).with_columns(method=pl.lit(f"method_{seed}"))
        for seed in (0, 1)
    )
    serial, parallel = (intervals_table(both, SETTINGS, workers) for workers in (1, 2))
    assert serial["method"].unique(maintain_order=True).to_list() == ["method_0", "method_1"]
    assert serial.equals(parallel)
