"""Intervals of methods: every figure that is reported of one, with its uncertainty.

Beside the intervals over scenarios, the corrected-variance t interval states how much the method
itself varies with its training data.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.workers import parallel_map
from failbench.statistics.bootstrap import Interval
from failbench.statistics.calibration import calibration_floor
from failbench.statistics.corrected_t import resampled_mean
from failbench.statistics.costs import UnitCosts, cost_metrics
from failbench.statistics.estimates import ESTIMATE
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import metrics_for, value_metrics
from failbench.statistics.scores import scenario_answers


class IntervalSettings(ScenarioIntervalSettings):
    """How the figures of the main study get intervals; its section is ``intervals``."""

    calibration_bins: int = Field(ge=2)
    floor_draws: int = Field(ge=100)


def corrected_t(predictions: pl.DataFrame, confidence: float) -> Interval:
    """Mean fold accuracy with the interval of :func:`corrected_t.resampled_mean`.

    Raises
    ------
    BadInputError
        If there are fewer than two folds.
    """
    folds = (
        predictions.with_columns(correct=pl.col("prediction") == pl.col("category"))
        .group_by("repeat", "fold", "scenario")
        .agg(pl.col("correct").mean())
        .group_by("repeat", "fold")
        .agg(pl.col("correct").mean().alias("accuracy"), pl.len().alias("tested"))
        .sort("repeat", "fold")
    )
    if folds.height < 2:
        raise BadInputError(
            "predictions", "fold", "there is a single fold.", "Run at least two folds."
        )
    n = predictions["scenario"].n_unique()
    tested = float(folds["tested"].to_numpy().mean())
    mean = resampled_mean(folds["accuracy"].to_numpy(), tested, n - tested)
    low, high = mean.interval(confidence)
    return Interval(
        value=mean.mean,
        ci_low=max(low, 0.0),
        ci_high=min(high, 1.0),
        n=n,
        method="corrected t",
        resampling_unit="fold",
        estimand="expected accuracy of the method over training sets of this size",
    )


def method_intervals(
    predictions: pl.DataFrame, settings: IntervalSettings, costs: UnitCosts | None = None
) -> dict[str, Interval]:
    """Every reported figure of one method on one feature set, by name.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one method and one feature set.
    settings
        Resamples, confidence, and the seed that all metrics share.
    costs
        What answers cost; without them no hybrid's cost is reported.
    """
    answers = scenario_answers(predictions)
    values = value_metrics(predictions, settings.calibration_bins)
    if costs is not None:
        values += cost_metrics(predictions, costs)
    metrics = metrics_for(tuple(answers.shares))
    intervals = scenario_intervals(answers, metrics, settings, values)
    if "calibration_error" in intervals:
        intervals["calibration_floor"] = floor_interval(predictions, settings)
    intervals["accuracy_over_training_sets"] = corrected_t(predictions, settings.confidence)
    return intervals


def floor_interval(predictions: pl.DataFrame, settings: IntervalSettings) -> Interval:
    """Calibration error of a perfectly calibrated method: its mean, and the range it stays in.

    Not an interval of an estimate: the central share ``settings.confidence`` of simulated errors.
    """
    errors = calibration_floor(
        predictions,
        settings.calibration_bins,
        settings.floor_draws,
        np.random.default_rng(settings.seed),
    )
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(errors, (tail, 1 - tail))
    return Interval(
        value=float(errors.mean()),
        ci_low=float(low),
        ci_high=float(high),
        n=predictions["scenario"].n_unique(),
        method="simulation",
        resampling_unit="scenario",
        estimand="calibration error that the same confidences would show in a sample of this size, "
        "were they the probabilities of being right",
    )


def intervals_table(
    predictions: pl.DataFrame,
    settings: IntervalSettings,
    workers: int = 1,
    costs: UnitCosts | None = None,
) -> pl.DataFrame:
    """Intervals of every (feature_set, method) in a table of predictions, one row per figure.

    The result does not depend on the number of workers.
    """
    tasks = [
        (feature_set, method, part, settings, costs)
        for (feature_set, method), part in predictions.sort("feature_set", "method").group_by(
            "feature_set", "method", maintain_order=True
        )
    ]
    return pl.concat(parallel_map(_method_table, tasks, workers))


def _method_table(
    feature_set: str,
    method: str,
    predictions: pl.DataFrame,
    settings: IntervalSettings,
    costs: UnitCosts | None,
) -> pl.DataFrame:
    return interval_rows(feature_set, method, method_intervals(predictions, settings, costs))


def interval_rows(feature_set: str, method: str, intervals: dict[str, Interval]) -> pl.DataFrame:
    """Named figures of one method on one feature set as a table, one row per figure."""
    rows = []
    for name, interval in intervals.items():
        record = interval.model_dump()
        rows.append(
            {
                "feature_set": feature_set,
                "method": method,
                "metric": name,
                "interval": record.pop("method"),
                **record,
            }
        )
    return pl.DataFrame(rows)


def nested_metrics(table: pl.DataFrame) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """The table as ``{feature_set: {method: {metric: {value, ci_low, ci_high, n}}}}``."""
    nested: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for row in table.iter_rows(named=True):
        metrics = nested.setdefault(row["feature_set"], {}).setdefault(row["method"], {})
        metrics[row["metric"]] = {key: row[key] for key in ESTIMATE}
    return nested
