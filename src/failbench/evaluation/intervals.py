"""Intervals: every rate with its uncertainty, its unit and what it estimates.

The independent unit is the scenario. BCa intervals resample scenarios within categories, all runs
and repeats of a scenario moving together; they are conditional on the fitted models. The
corrected-variance t interval states how much the method itself varies with its training data.
"""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import Field
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from failbench.errors import BadInputError
from failbench.evaluation.corrected_t import resampled_mean
from failbench.evaluation.metrics import Metric, metrics_for
from failbench.evaluation.scores import Array, ScenarioAnswers, scenario_answers
from failbench.scenarios import Record

Indices = npt.NDArray[np.intp]

BATCH = 1000
"""Resamples held in memory at once."""

SPREAD = 1e-12
"""A standard error below this is rounding: the resamples agree."""

IntervalMethod = Literal["BCa bootstrap", "Wilson", "corrected t"]


class IntervalSettings(Record):
    """How intervals are made; the section ``intervals`` of params.yaml."""

    resamples: int = Field(ge=1000)
    confidence: float = Field(gt=0.5, lt=1)
    wilson_from: float = Field(gt=0.5, le=1)
    seed: int = Field(ge=0)


class Interval(Record):
    """One figure with its interval, and what both mean."""

    value: float
    ci_low: float
    ci_high: float
    n: int
    method: IntervalMethod
    resampling_unit: str
    estimand: str


def scenario_intervals(
    answers: ScenarioAnswers, metrics: tuple[Metric, ...], settings: IntervalSettings
) -> dict[str, Interval]:
    """Values of metrics with BCa intervals over scenarios, or Wilson's where BCa fails.

    BCa (Efron, 1987, as in `scipy.stats.bootstrap`) has no answer when all resamples agree, and
    covers too little near one; from ``settings.wilson_from`` upwards, and for degenerate data,
    Wilson's interval (1927) with n = scenarios takes its place. For a score that is no plain
    proportion that is an approximation.

    Raises
    ------
    BadInputError
        If a category has a single scenario: there is nothing to resample then.
    """
    for category, one in answers.shares.items():
        if len(one) < 2:
            raise BadInputError(
                "predictions",
                "scenario",
                f"{category} has a single scenario.",
                "An interval needs at least two scenarios a category.",
            )
    categories = tuple(answers.shares)
    confusion = answers.confusion()
    bounds = _bca(answers, metrics, settings)
    intervals = {}
    for metric, bca in zip(metrics, bounds, strict=True):
        value = float(metric.score(confusion, categories))
        n = len(answers.shares[metric.category]) if metric.category else answers.n
        wilson = value >= settings.wilson_from or bool(np.isnan(bca).any())
        low, high = _wilson(value, n, settings.confidence) if wilson else bca
        intervals[metric.name] = Interval(
            value=value,
            ci_low=float(low),
            ci_high=float(high),
            n=n,
            method="Wilson" if wilson else "BCa bootstrap",
            resampling_unit="scenario",
            estimand=metric.estimand,
        )
    return intervals


def _bca(
    answers: ScenarioAnswers, metrics: tuple[Metric, ...], settings: IntervalSettings
) -> Array:
    """BCa bounds ``[n_metrics, 2]``, NaN where the resamples of a metric all agree."""
    categories = tuple(answers.shares)
    shares = tuple(answers.shares.values())

    def statistic(*indices: Indices, axis: int) -> Array:  # noqa: ARG001 - always the last axis
        confusion = np.stack(
            [
                np.tensordot(_weights(index, len(one)), one, axes=1)
                for index, one in zip(indices, shares, strict=True)
            ],
            axis=-2,
        )  # [..., n_repeats, n_categories, n_answers]
        # The bias correction counts ties with the observed value; rounding keeps them ties.
        return np.stack([metric.score(confusion, categories) for metric in metrics]).round(12)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        warnings.filterwarnings("ignore", "invalid value encountered", RuntimeWarning)
        # One sample a category: scenarios are resampled within categories.
        result = stats.bootstrap(
            tuple(np.arange(len(one)) for one in shares),
            statistic,
            n_resamples=settings.resamples,
            batch=BATCH,
            vectorized=True,
            confidence_level=settings.confidence,
            method="BCa",
            rng=np.random.default_rng(settings.seed),
        )
    bounds = np.stack(result.confidence_interval, axis=-1)
    return np.where(result.standard_error[:, None] > SPREAD, bounds, np.nan)


def _wilson(rate: float, n: int, confidence: float) -> tuple[float, float]:
    low, high = proportion_confint(rate * n, n, 1 - confidence, method="wilson")
    # At 0 and 1 the closed form misses the rate itself by a rounding error.
    return min(max(float(low), 0.0), rate), max(min(float(high), 1.0), rate)


def _weights(indices: Indices, n: int) -> Array:
    """How often each of n scenarios was drawn: ``[..., n]``."""
    flat = indices.reshape(-1, indices.shape[-1])
    offsets = n * np.arange(len(flat))[:, None]
    counts = np.bincount((flat + offsets).ravel(), minlength=n * len(flat))
    return counts.reshape(*indices.shape[:-1], n).astype(np.float64)


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
    found = resampled_mean(folds["accuracy"].to_numpy(), tested, n - tested)
    low, high = found.interval(confidence)
    return Interval(
        value=found.mean,
        ci_low=max(low, 0.0),
        ci_high=min(high, 1.0),
        n=n,
        method="corrected t",
        resampling_unit="fold",
        estimand="expected accuracy of the method over training sets of this size",
    )


def method_intervals(predictions: pl.DataFrame, settings: IntervalSettings) -> dict[str, Interval]:
    """Every reported figure of one method on one feature set, by name.

    Parameters
    ----------
    predictions
        Rows of ``nested_cv.PREDICTION_SCHEMA`` of one method and one feature set.
    settings
        Resamples, confidence, and the seed that all metrics share.
    """
    answers = scenario_answers(predictions)
    intervals = scenario_intervals(answers, metrics_for(tuple(answers.shares)), settings)
    intervals["accuracy_over_training_sets"] = corrected_t(predictions, settings.confidence)
    return intervals


def intervals_table(predictions: pl.DataFrame, settings: IntervalSettings) -> pl.DataFrame:
    """Intervals of every (feature_set, method) in a table of predictions, one row a figure."""
    rows = []
    for (feature_set, method), part in predictions.sort("feature_set", "method").group_by(
        "feature_set", "method", maintain_order=True
    ):
        for name, interval in method_intervals(part, settings).items():
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
        metrics[row["metric"]] = {key: row[key] for key in ("value", "ci_low", "ci_high", "n")}
    return nested
