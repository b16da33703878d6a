"""Lead: how early an alarm comes before a failure, and how rarely it may be a false one."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import (
    Interval,
    IntervalMethod,
    Weights,
    once,
    resample,
    unit_of,
)
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.scenario_values import UNIT, by_category


def alarm_limit(highest: Array, rate: float) -> float:
    """The limit that a new healthy run exceeds with at most probability ``rate``."""
    # The split-conformal quantile (Vovk, Gammerman and Shafer, 2005; Bates et al., 2023): of n
    # exchangeable runs, the score of rank ceil((n + 1)(1 - rate)); too few runs for it are refused.
    # rounded first, as 50 * 0.98 must be 49 and no trifle more
    rank = math.ceil(round((len(highest) + 1) * (1 - rate), 9))
    if rank > len(highest):
        raise BadInputError(
            "healthy runs",
            "kind",
            f"{len(highest)} runs cannot show that false alarms stay at {100 * rate:g} % a run; "
            f"it takes {math.ceil(1 / rate) - 1}.",
            "Record more seeds, whose twins are healthy runs, or allow more false alarms.",
        )
    return float(np.sort(highest)[rank - 1])


def lead_interval(failing: pl.DataFrame, settings: ScenarioIntervalSettings) -> Interval:
    """Median steps from first alarm to failure; quantiles of resampled scenarios and seeds."""
    # BCa's acceleration is the jackknife's, which a median defeats (Efron and Tibshirani, 1993,
    # 11.6).
    repeats = failing.group_by(UNIT).len()["len"].max()
    assert isinstance(repeats, int)
    lead = (pl.col("failure_step") - pl.col("step")).cast(pl.Float64)
    rows = (
        failing.group_by(UNIT)
        .agg(leads=pl.when(pl.col("detected")).then(lead).drop_nulls())
        .sort(UNIT)
    )
    parts, seeds = by_category(rows)
    leads = [leads for part in parts.values() for leads in part["leads"].to_list()]
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
    return Interval.of(
        value,
        (min(low, value), max(high, value), method),
        rows.filter(pl.col("leads").list.len() > 0)["scenario"].n_unique(),
        unit_of(seeds),
        "median steps from the first alarm to the failure, of runs that have an alarm",
    )


def _weighted_medians(values: Array, weights: Array) -> Array:
    """The first of the rising values at which half of the weight is reached, for each resample."""
    reached = np.cumsum(weights, axis=-1)
    whole = reached[..., -1:]
    medians = values[(reached >= whole / 2).argmax(axis=-1)]
    return np.where(whole[..., 0] > 0, medians, np.nan)
