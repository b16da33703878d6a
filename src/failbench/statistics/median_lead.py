"""Lead: the median number of steps by which the first alarm comes before the failure."""

from __future__ import annotations

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import CATEGORIES
from failbench.statistics.bootstrap import Interval, IntervalMethod, resample
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.row_weights import Weights, once, seed_counts, unit_of


def lead_interval(failing: pl.DataFrame, settings: ScenarioIntervalSettings) -> Interval:
    """Median steps from the first alarm to the failure, over failing runs that have an alarm.

    Scenarios are resampled within categories, then their seeds, and quantiles of the medians taken:
    the acceleration of BCa is that of the jackknife, which a median defeats (Efron and Tibshirani,
    1993, "An introduction to the bootstrap", section 11.6).
    """
    unit = ["category", "scenario", "seed"]
    repeats = failing.group_by(unit).len()["len"].max()
    assert isinstance(repeats, int)
    lead = (pl.col("failure_step") - pl.col("step")).cast(pl.Float64)
    rows = (
        failing.group_by(unit)
        .agg(leads=pl.when(pl.col("detected")).then(lead).drop_nulls())
        .sort(unit)
    )
    parts = [rows.filter(category=str(category)) for category in CATEGORIES]
    parts = [part for part in parts if part.height]
    seeds = tuple(seed_counts(part) for part in parts)
    leads = [leads for part in parts for leads in part["leads"].to_list()]
    row_of = np.repeat(np.arange(len(leads)), [len(each) for each in leads])
    values = np.array([value for each in leads for value in each])
    order = np.argsort(values, kind="stable")
    values, row_of = values[order], row_of[order]

    def medians(weights: Weights) -> Array:
        of_rows = np.concatenate([np.asarray(each) for each in weights], axis=-1)
        return _weighted_medians(values, of_rows[..., row_of] / repeats)[None]

    value = float(medians(once(seeds))[0])
    resampled = resample(seeds, medians, settings)
    low, high = (float(bound) for bound in resampled.percentile[0])
    method: IntervalMethod = "percentile bootstrap"
    if not np.isfinite([low, high]).all():
        low, high, method = float(values[0]), float(values[-1]), "range"
    return Interval(
        value=value,
        ci_low=min(low, value),
        ci_high=max(high, value),
        n=rows.filter(pl.col("leads").list.len() > 0)["scenario"].n_unique(),
        method=method,
        resampling_unit=unit_of(seeds),
        estimand="median steps from the first alarm to the failure, of runs that have an alarm",
    )


def _weighted_medians(values: Array, weights: Array) -> Array:
    """The first of the rising values at which half of the weight is reached, for each resample."""
    reached = np.cumsum(weights, axis=-1)
    whole = reached[..., -1:]
    medians = values[(reached >= whole / 2).argmax(axis=-1)]
    return np.where(whole[..., 0] > 0, medians, np.nan)
