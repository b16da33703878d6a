"""Abstention: why the improved rules and the monitor abstain, and what thresholds are worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl

from failbench.arrays import Array
from failbench.statistics.bootstrap import Interval
from failbench.statistics.commitment import at_threshold, lowest_thresholds
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import over_committed, over_scenarios, over_those, right
from failbench.statistics.scores import scenario_answers
from failbench.studies.abstention.settings import AbstentionSettings
from failbench.vocabulary import ABSTAIN, CATEGORIES, Reason

REASONS, THRESHOLDS, CHOSEN, METHODS = "reasons", "thresholds", "chosen", "methods"
"""The parts of the table of estimates."""

ALL = "all"
AS_MEASURED, PER_FOLD = "as_measured", "per_fold"


def abstention_estimates(
    predictions: pl.DataFrame,
    inner: pl.DataFrame,
    monitored: pl.DataFrame,
    settings: AbstentionSettings,
    intervals: ScenarioIntervalSettings,
) -> pl.DataFrame:
    """Explain the abstentions, sweep tau, and choose it on the training side of every fold.

    The tau of a fold is the lowest one with which the rules reach the precision on the scenarios
    that the fold trains on. Where no tau reaches the precision, the fold abstains from everything.
    """
    main = predictions.filter(pl.col("feature_set") == settings.feature_set)
    chosen = lowest_thresholds(inner, settings.taus, settings.precision, ("repeat", "fold"))
    judged = main.join(chosen.select("repeat", "fold", "tau"), on=("repeat", "fold"), how="left")
    # A confidence is never above one, so that a tau above it abstains from everything.
    adjusted = at_threshold(judged, pl.col("tau").fill_null(2.0)).drop("tau")
    at_tau = {AS_MEASURED: main, PER_FOLD: adjusted}
    return pl.concat(
        [
            *(_reasons(REASONS, key, part, intervals) for key, part in _by_category(main)),
            *_swept(main, settings.taus, intervals),
            *(
                estimate_rows(_intervals(answers, _rates(answers), intervals), part=CHOSEN, key=key)
                for key, answers in at_tau.items()
            ),
            estimate_rows(_choices(chosen), part=CHOSEN, key=PER_FOLD),
            *_by_method(pl.concat([main, monitored]), settings.feature_set, intervals),
        ]
    )


def _by_category(predictions: pl.DataFrame) -> Iterable[tuple[str, pl.DataFrame]]:
    yield ALL, predictions
    for category in CATEGORIES:
        part = predictions.filter(pl.col("category") == category)
        if part.height:
            yield category, part


def _by_method(
    predictions: pl.DataFrame, feature_set: str, settings: ScenarioIntervalSettings
) -> Iterable[pl.DataFrame]:
    """What each method is worth that may abstain, and why it does."""
    main = predictions.filter(pl.col("feature_set") == feature_set)
    for (method,), answers in main.group_by("method", maintain_order=True):
        rates = _intervals(answers, _rates(answers), settings)
        yield estimate_rows(rates, part=METHODS, key=method)
        yield _reasons(METHODS, str(method), answers, settings)


def _reasons(
    part: str, key: str, predictions: pl.DataFrame, settings: ScenarioIntervalSettings
) -> pl.DataFrame:
    """How often it is abstained from these scenarios, and the share of each reason in that."""
    abstained = pl.col("prediction") == ABSTAIN
    rate = tuple(metric for metric in OVERALL if metric.name == "abstention_rate")
    shares = tuple(
        ValueMetric(
            f"share_{reason}",
            over_those(predictions, pl.col("reason").eq_missing(pl.lit(reason)), abstained),
            "ratio of two probabilities: that a run of a new scenario is left undecided as "
            f"{reason.replace('_', ' ')}, over that it is left undecided",
            kind="proportion",
        )
        for reason in get_args(Reason)
        if predictions.select(abstained.any()).item()
    )
    intervals = scenario_intervals(scenario_answers(predictions), rate, settings, shares)
    return estimate_rows(intervals, part=part, key=key)


def _swept(
    predictions: pl.DataFrame, taus: Array, settings: ScenarioIntervalSettings
) -> Iterable[pl.DataFrame]:
    """What the rules are worth at each tau; all rates at once, as they share their resamples."""
    rates = [(tau, rate) for tau in taus for rate in _rates(at_threshold(predictions, tau))]
    numbered = tuple(replace(rate, name=str(number)) for number, (_, rate) in enumerate(rates))
    intervals = _intervals(predictions, numbered, settings).values()
    for (tau, rate), interval in zip(rates, intervals, strict=True):
        yield estimate_rows({rate.name: interval}, part=THRESHOLDS, key=f"{tau:.2f}")


def _intervals(
    predictions: pl.DataFrame, rates: tuple[ValueMetric, ...], settings: ScenarioIntervalSettings
) -> dict[str, Interval]:
    return scenario_intervals(scenario_answers(predictions), (), settings, rates)


def _rates(predictions: pl.DataFrame) -> tuple[ValueMetric, ...]:
    """Coverage, accuracy and accuracy when committed.

    Where nothing is committed on, there is no accuracy of it.
    """
    committed = pl.col("prediction") != ABSTAIN
    rates = [
        ValueMetric(
            "coverage",
            over_scenarios(predictions, committed),
            "probability that a run of a new scenario is diagnosed at all",
            kind="proportion",
        ),
        ValueMetric(
            "accuracy",
            over_scenarios(predictions, right()),
            "probability that a run of a new scenario, drawn with these categories, is diagnosed "
            "right",
            kind="proportion",
        ),
    ]
    if predictions.select(committed.any()).item():
        rates.append(
            ValueMetric(
                "accuracy_when_committed",
                over_committed(predictions, right()),
                "ratio of two probabilities: that a run of a new scenario is diagnosed right, "
                "over that it is diagnosed at all",
                kind="proportion",
            )
        )
    return tuple(rates)


def _choices(chosen: pl.DataFrame) -> dict[str, Interval]:
    """The chosen thresholds: their median and range, and the share of folds that have one."""
    taus: Array = chosen["tau"].drop_nulls().to_numpy()
    share = len(taus) / chosen.height
    choices = {
        "folds_with_a_threshold": _over_folds(
            (share, share, share),
            chosen.height,
            "share of folds in which some threshold reaches the precision on the training side",
        )
    }
    if len(taus):
        choices["tau"] = _over_folds(
            (float(np.median(taus)), float(taus.min()), float(taus.max())),
            len(taus),
            "threshold chosen on the training side of a fold: median, lowest and highest",
        )
    return choices


def _over_folds(bounds: tuple[float, float, float], folds: int, estimand: str) -> Interval:
    value, low, high = bounds
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=folds,
        method="range",
        resampling_unit="fold",
        estimand=estimand,
    )
