"""Intervals: every figure of a method with its uncertainty, its unit and what it estimates."""

# The unit is the scenario. BCa intervals resample scenarios, then seeds, all repeats moving
# together, conditional on the fitted models. The corrected-variance t interval beside them states
# how much a method itself varies with its training data.

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field
from statsmodels.stats.proportion import proportion_confint

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.statistics.bootstrap import (
    BootstrapSettings,
    Bounds,
    Interval,
    IntervalMethod,
    Weights,
    once,
    resample,
    unit_of,
)
from failbench.statistics.confidence import calibration_floor
from failbench.statistics.metrics import (
    Metric,
    UnitCosts,
    ValueMetric,
    cost_metrics,
    metrics_for,
    value_metrics,
)
from failbench.statistics.paired_tests import resampled_mean
from failbench.statistics.scenario_values import (
    UNIT,
    ScenarioAnswers,
    by_category,
    scenario_answers,
)

ESTIMATE = ("value", "ci_low", "ci_high", "n")  # what a metrics file holds of an interval


def estimate_rows(intervals: Mapping[str, Interval], **keys: object) -> pl.DataFrame:
    """Named intervals as rows, right of keys that all share; their methods are ``interval``."""
    rows = []
    for metric, interval in intervals.items():
        record = interval.model_dump()
        rows.append({**keys, "metric": metric, "interval": record.pop("method"), **record})
    return pl.DataFrame(rows)


def nest(table: pl.DataFrame, *keys: str, leaves: tuple[str, ...] = ESTIMATE) -> dict[str, Any]:
    """Rows as nested scalars, a level per key, without nulls; no two rows may have the same keys.

    >>> rates = pl.DataFrame({"method": ["ebm"], "metric": ["accuracy"], "value": [0.5], "n": [76]})
    >>> nest(rates, "method", "metric", leaves=("value", "n"))
    {'ebm': {'accuracy': {'value': 0.5, 'n': 76}}}
    """
    nested: dict[str, Any] = {}
    for row in table.iter_rows(named=True):
        level = nested
        for key in keys[:-1]:
            level = level.setdefault(str(row[key]), {})
        last = str(row[keys[-1]])
        if last in level:
            raise ValueError(f"Two rows have the same {', '.join(keys)}: {last!r}.")
        level[last] = {leaf: row[leaf] for leaf in leaves if row[leaf] is not None}
    return nested


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

    Of a category with a single scenario there is nothing to resample, which is refused.
    """
    sizes = dict(zip(answers.categories, answers.sizes, strict=True))
    for category, scenarios in sizes.items():
        if scenarios < 2:
            problem = f"{category} has a single scenario."
            remedy = "An interval needs at least two scenarios a category."
            raise BadInputError("predictions", "scenario", problem, remedy)
    categories = tuple(sizes)

    def statistic(weights: Weights) -> Array:
        confusion = answers.confusion(weights)
        scores = (metric.score(confusion, categories) for metric in metrics)
        figures = (figure.score(figure.values.sums(weights)) for figure in values)
        return np.stack([*scores, *figures])

    resampled = resample(answers.seeds, statistic, settings)
    unit = unit_of(answers.seeds)
    confusion = answers.confusion()
    found: dict[str, tuple[float, Bounds, int, str]] = {}
    for position, metric in enumerate(metrics):
        value = float(metric.score(confusion, categories))
        if metric.size is None:
            n = sizes[metric.category] if metric.category else answers.n
            bounds = _proportion(value, n, resampled.bca[position], settings)
        else:
            size = max(float(metric.size(confusion, categories)), 1.0)
            bounds = _proportion(
                value, size, resampled.bca[position], settings, settings.wilson_below
            )
            n = round(size)
        found[metric.name] = (value, bounds, n, metric.estimand)
    for position, figure in enumerate(values, start=len(metrics)):
        sums = figure.values.sums()
        value = float(figure.score(sums))
        if figure.kind == "proportion":
            size = float(sums[1])
            bounds = _proportion(
                value, size, resampled.bca[position], settings, settings.wilson_below
            )
        elif figure.kind == "distance":
            bounds = resampled.distance(position, value)
        else:
            bounds = resampled.number(position, value)
        found[figure.name] = (value, bounds, answers.n, figure.estimand)
    return {
        name: Interval.of(value, bounds, n, "scenario" if bounds[2] == "Wilson" else unit, estimand)
        for name, (value, bounds, n, estimand) in found.items()
    }


def _proportion(
    rate: float, n: float, bca: Array, settings: ScenarioIntervalSettings, fewest: int = 0
) -> Bounds:
    if n < fewest or rate >= settings.wilson_from or np.isnan(bca).any():
        return *wilson(rate, n, settings.confidence), "Wilson"
    return float(bca[0]), float(bca[1]), "BCa bootstrap"


def wilson(rate: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's interval (1927) of a rate over n scenarios; it always holds the rate."""
    low, high = proportion_confint(rate * n, n, 1 - confidence, method="wilson")
    # At 0 and 1 the closed form misses the rate itself by a rounding error.
    return min(max(float(low), 0.0), rate), max(min(float(high), 1.0), rate)


def wilson_row(value: float, n: int, confidence: float) -> dict[str, float]:
    """A rate over n units with Wilson's interval, as a part of a row."""
    low, high = wilson(value, n, confidence)
    return {"value": value, "ci_low": low, "ci_high": high, "n": n}


def wilson_interval(
    value: float, n: float, confidence: float, unit: str, estimand: str
) -> Interval:
    """A rate over n units with Wilson's interval, as an estimate."""
    bounds: Bounds = (*wilson(value, n, confidence), "Wilson")
    return Interval.of(value, bounds, round(n), unit, estimand)


def wilson_share(
    table: pl.DataFrame, value: pl.Expr, unit: str, confidence: float
) -> dict[str, float]:
    """The mean over units of a value's means, with Wilson's interval, here an approximation."""
    # sorted, since a sum in another order differs in its last bit, which may round otherwise
    means = table.group_by(unit).agg(share=value.cast(pl.Float64).mean()).sort(unit)["share"]
    return wilson_row(float(means.to_numpy().mean()), len(means), confidence)


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
    """Rates with intervals over scenarios; Wilson's where a category has a single one."""
    answers = scenario_answers(predictions)
    if min(answers.sizes) > 1:
        return scenario_intervals(answers, metrics, settings, values)
    confusion, size = answers.confusion(), (answers.n, settings.confidence, "scenario")
    rates = {
        each.name: wilson_interval(
            float(each.score(confusion, answers.categories)), *size, each.estimand
        )
        for each in metrics
    }
    return rates | wilson_intervals(values, settings.confidence)


class IntervalSettings(ScenarioIntervalSettings):
    """How the figures of the main study get intervals; its section is ``intervals``."""

    calibration_bins: int = Field(ge=2)
    floor_draws: int = Field(ge=100)


def corrected_t(predictions: pl.DataFrame, confidence: float) -> Interval:
    """Mean fold accuracy with the interval of :func:`resampled_mean`; it takes two folds."""
    folds = (
        predictions.with_columns(correct=pl.col("prediction") == pl.col("category"))
        .group_by("repeat", "fold", "scenario")
        .agg(pl.col("correct").mean())
        .group_by("repeat", "fold")
        .agg(pl.col("correct").mean().alias("accuracy"), pl.len().alias("tested"))
        .sort("repeat", "fold")
    )
    if folds.height < 2:
        problem = "there is a single fold."
        raise BadInputError("predictions", "fold", problem, "Run at least two folds.")
    n = predictions["scenario"].n_unique()
    tested = float(folds["tested"].to_numpy().mean())
    mean = resampled_mean(folds["accuracy"].to_numpy(), tested, n - tested)
    low, high = mean.interval(confidence)
    bounds: Bounds = (max(low, 0.0), min(high, 1.0), "corrected t")
    estimand = "expected accuracy of the method over training sets of this size"
    return Interval.of(mean.mean, bounds, n, "fold", estimand)


def method_intervals(
    predictions: pl.DataFrame, settings: IntervalSettings, costs: UnitCosts | None = None
) -> dict[str, Interval]:
    """Every reported figure of one method and feature set; a hybrid's cost only with ``costs``."""
    answers = scenario_answers(predictions)
    values = value_metrics(predictions, settings.calibration_bins)
    if costs is not None:
        values += cost_metrics(predictions, costs)
    metrics = metrics_for(answers.categories)
    intervals = scenario_intervals(answers, metrics, settings, values)
    if "calibration_error" in intervals:
        intervals["calibration_floor"] = floor_interval(predictions, settings)
    intervals["accuracy_over_training_sets"] = corrected_t(predictions, settings.confidence)
    return intervals


def floor_interval(predictions: pl.DataFrame, settings: IntervalSettings) -> Interval:
    """A calibrated method's error: the mean, and the central share of simulated ones."""
    errors = calibration_floor(
        predictions,
        settings.calibration_bins,
        settings.floor_draws,
        np.random.default_rng(settings.seed),
    )
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(errors, (tail, 1 - tail))
    return Interval.of(
        float(errors.mean()),
        (float(low), float(high), "simulation"),
        predictions["scenario"].n_unique(),
        "scenario",
        "calibration error that the same confidences would show in a sample of this size, "
        "were they the probabilities of being right",
    )


def alarm_limit(highest: Array, rate: float) -> float:
    """The limit that a new healthy run exceeds with at most probability ``rate``."""
    # The split-conformal quantile (Vovk, Gammerman and Shafer, 2005; Bates et al., 2023): of n
    # exchangeable runs, the score of rank ceil((n + 1)(1 - rate)); too few runs for it are refused.
    # rounded first, as 50 * 0.98 must be 49 and no trifle more
    rank = math.ceil(round((len(highest) + 1) * (1 - rate), 9))
    if rank > len(highest):
        problem = (
            f"{len(highest)} runs cannot show that false alarms stay at {100 * rate:g} % a run; "
            f"it takes {math.ceil(1 / rate) - 1}."
        )
        remedy = "Record more seeds, whose twins are healthy runs, or allow more false alarms."
        raise BadInputError("healthy runs", "kind", problem, remedy)
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
