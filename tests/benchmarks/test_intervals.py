from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import polars as pl
from sklearn.metrics import f1_score

from failbench.scenarios import COUNTS
from failbench.statistics.method_intervals import IntervalSettings, method_intervals
from failbench.studies.risk_coverage.results import RiskCoverageSettings, area_interval, rankings
from made_up import made_up_predictions

RESAMPLES, REPEATS = 10_000, 10
INTERVALS = IntervalSettings(
    resamples=RESAMPLES,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=0,
    seed=0,
    calibration_bins=10,
    floor_draws=1000,
)
CURVES = RiskCoverageSettings(resamples=RESAMPLES, confidence=0.95, seed=0, points=50)


def cpu_seconds(function: Callable[[], object]) -> float:
    started = time.process_time()
    function()
    return time.process_time() - started


def f1_resample_by_resample(predictions: pl.DataFrame, resamples: int) -> list[float]:
    """One figure of one repeat in the plain way, a call of scikit-learn a resample."""
    one = predictions.filter(pl.col("repeat") == 0)
    labels, answers = one["category"].to_numpy(), one["prediction"].to_numpy()
    rng = np.random.default_rng(0)
    drawn = (rng.integers(len(labels), size=len(labels)) for _ in range(resamples))
    return [f1_score(labels[rows], answers[rows], average="macro") for rows in drawn]


def test_every_figure_of_ten_repeats_at_once_beats_one_of_one_repeat_resample_by_resample(
    benchmark,
):
    predictions = made_up_predictions(repeats=REPEATS, scenarios=COUNTS).with_columns(
        conditions=pl.lit(4, pl.Int32), route=pl.lit("rules")
    )
    few = 50
    method_intervals(predictions, INTERVALS)
    at_once = min(cpu_seconds(lambda: method_intervals(predictions, INTERVALS)) for _ in range(2))
    by_resample = cpu_seconds(lambda: f1_resample_by_resample(predictions, few)) / few * RESAMPLES
    ranked = rankings(predictions)
    benchmark.extra_info["cpu_seconds_of_intervals"] = at_once
    benchmark.extra_info["cpu_seconds_of_area"] = cpu_seconds(
        lambda: area_interval(predictions, ranked, CURVES)
    )
    benchmark.extra_info["times_faster"] = by_resample / at_once
    benchmark.pedantic(method_intervals, args=(predictions, INTERVALS), rounds=1)
    assert by_resample > 2 * at_once
