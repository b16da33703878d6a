"""Intervals: every rate with its uncertainty, its unit and what it estimates.

The independent unit is the scenario. BCa intervals resample scenarios within categories and then
their seeds, all repeats moving together; they are conditional on the fitted models.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from pydantic import Field
from statsmodels.stats.proportion import proportion_confint

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import BootstrapSettings, Interval, IntervalMethod, resample
from failbench.statistics.metrics import Metric, ValueMetric
from failbench.statistics.row_weights import Weights, unit_of
from failbench.statistics.scores import ScenarioAnswers, scenario_answers


class ScenarioIntervalSettings(BootstrapSettings):
    """How rates over scenarios get intervals, and where Wilson's takes over."""

    wilson_from: float = Field(gt=0.5, le=1)
    wilson_below: int = Field(ge=0)


def scenario_intervals(
    answers: ScenarioAnswers,
    metrics: tuple[Metric, ...],
    settings: ScenarioIntervalSettings,
    values: tuple[ValueMetric, ...] = (),
) -> dict[str, Interval]:
    """Values of metrics with BCa intervals over scenarios and seeds, or Wilson's where BCa fails.

    BCa has no answer when all resamples agree, and covers too little near one; from
    ``settings.wilson_from`` upwards, and for degenerate data, Wilson's interval (1927) with n =
    scenarios takes its place. For a score that is no plain proportion that is an approximation; for
    a ratio of two shares of scenarios, n is the second share. What is no proportion at all never
    gets Wilson's interval: see :class:`failbench.statistics.bootstrap.Resampled`.

    Where the answers decide how many scenarios a share is of (a precision, a ratio of two shares),
    and these are fewer than ``settings.wilson_below``, Wilson's interval takes its place, too: a
    resample may hold none of them, and a share of nothing has no value. With ten among many that
    happens about once in e^10 resamples, or 22,000.

    Parameters
    ----------
    answers
        What was answered, from which ``metrics`` are computed.
    metrics
        Scores of the confusions.
    settings
        Resamples, confidence, and the seed that all metrics share.
    values
        Further figures of the same scenarios.

    Raises
    ------
    BadInputError
        If a category has a single scenario: there is nothing to resample then.
    """
    sizes = dict(zip(answers.shares, answers.sizes, strict=True))
    for category, scenarios in sizes.items():
        if scenarios < 2:
            raise BadInputError(
                "predictions",
                "scenario",
                f"{category} has a single scenario.",
                "An interval needs at least two scenarios a category.",
            )
    categories = tuple(sizes)

    def statistic(weights: Weights) -> Array:
        confusion = answers.confusion(weights)
        scores = (metric.score(confusion, categories) for metric in metrics)
        figures = (figure.score(figure.values.sums(weights)) for figure in values)
        return np.stack([*scores, *figures])

    resampled = resample(answers.seeds, statistic, settings)
    unit = unit_of(answers.seeds)
    confusion = answers.confusion()
    intervals = {}
    for position, metric in enumerate(metrics):
        value = float(metric.score(confusion, categories))
        if metric.size is None:
            n = sizes[metric.category] if metric.category else answers.n
            bounds = _rate(value, n, resampled.bca[position], settings)
        else:
            size = max(float(metric.size(confusion, categories)), 1.0)
            bounds = _conditional(value, size, resampled.bca[position], settings)
            n = round(size)
        intervals[metric.name] = _over_scenarios(value, bounds, n, unit, metric.estimand)
    for position, figure in enumerate(values, start=len(metrics)):
        sums = figure.values.sums()
        value = float(figure.score(sums))
        if figure.kind == "proportion":
            bounds = _conditional(value, float(sums[1]), resampled.bca[position], settings)
        elif figure.kind == "distance":
            bounds = resampled.distance(position, value)
        else:
            bounds = resampled.number(position, value)
        intervals[figure.name] = _over_scenarios(value, bounds, answers.n, unit, figure.estimand)
    return intervals


def _over_scenarios(
    value: float, bounds: tuple[float, float, IntervalMethod], n: int, unit: str, estimand: str
) -> Interval:
    low, high, method = bounds
    unit = "scenario" if method == "Wilson" else unit
    return Interval.of((value, low, high), n, method, unit, estimand)


def _rate(
    rate: float, n: float, bca: Array, settings: ScenarioIntervalSettings
) -> tuple[float, float, IntervalMethod]:
    """Bounds of a proportion: BCa, or Wilson's where that fails."""
    if rate >= settings.wilson_from or np.isnan(bca).any():
        return *wilson(rate, n, settings.confidence), "Wilson"
    return float(bca[0]), float(bca[1]), "BCa bootstrap"


def _conditional(
    rate: float, size: float, bca: Array, settings: ScenarioIntervalSettings
) -> tuple[float, float, IntervalMethod]:
    """Bounds of a proportion of so many scenarios as the answers decide."""
    if size < settings.wilson_below:
        return *wilson(rate, size, settings.confidence), "Wilson"
    return _rate(rate, size, bca, settings)


def wilson(rate: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval (1927) of a rate over n scenarios; it always holds the rate."""
    low, high = proportion_confint(rate * n, n, 1 - confidence, method="wilson")
    # At 0 and 1 the closed form misses the rate itself by a rounding error.
    return min(max(float(low), 0.0), rate), max(min(float(high), 1.0), rate)


def wilson_interval(
    value: float, n: float, confidence: float, unit: str, estimand: str
) -> Interval:
    """A rate over n units with Wilson's interval, as an estimate."""
    estimate = (value, *wilson(value, n, confidence))
    return Interval.of(estimate, round(n), "Wilson", unit, estimand)


def wilson_share(
    table: pl.DataFrame, value: pl.Expr, unit: str, confidence: float
) -> dict[str, float]:
    """The mean over units of a value's mean in each, with Wilson's interval and n = units.

    For such means Wilson's interval is an approximation.
    """
    # sorted, since a sum in another order differs in its last bit, which may round otherwise
    means = table.group_by(unit).agg(share=value.cast(pl.Float64).mean()).sort(unit)["share"]
    share = float(means.to_numpy().mean())
    low, high = wilson(share, len(means), confidence)
    return {"value": share, "ci_low": low, "ci_high": high, "n": len(means)}


def wilson_intervals(figures: Iterable[ValueMetric], confidence: float) -> dict[str, Interval]:
    """Shares with Wilson's intervals, n being the scenarios that each is of."""
    found = {}
    for figure in figures:
        sums = figure.values.sums()
        size = (float(sums[1]), confidence, "scenario", figure.estimand)
        found[figure.name] = wilson_interval(float(figure.score(sums)), *size)
    return found


def few_or_many(
    predictions: pl.DataFrame,
    metrics: tuple[Metric, ...],
    settings: ScenarioIntervalSettings,
    values: tuple[ValueMetric, ...] = (),
) -> dict[str, Interval]:
    """Rates with intervals over scenarios, and Wilson's where a category has a single one.

    There is nothing to resample within that, as there is little near one.
    """
    answers = scenario_answers(predictions)
    if min(answers.sizes) > 1:
        return scenario_intervals(answers, metrics, settings, values)
    confusion, categories = answers.confusion(), tuple(answers.shares)
    size = (answers.n, settings.confidence, "scenario")
    rates = {
        each.name: wilson_interval(float(each.score(confusion, categories)), *size, each.estimand)
        for each in metrics
    }
    return rates | wilson_intervals(values, settings.confidence)
