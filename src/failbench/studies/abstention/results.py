"""Abstention: why the improved rules abstain, and what another threshold would be worth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import numpy as np
import polars as pl
from pydantic import Field

from failbench.arrays import Array
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.prediction.fold_plans import by_tested_fold, within_training
from failbench.prediction.nested_cv import nested_cv
from failbench.records import Record
from failbench.statistics.bootstrap import Interval
from failbench.statistics.commitment import at_threshold, lowest_thresholds
from failbench.statistics.intervals import IntervalSettings, interval_rows, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import over_committed, over_scenarios, over_those, right
from failbench.statistics.scores import scenario_answers
from failbench.vocabulary import ABSTAIN, CATEGORIES, Reason

RULES = "improved_rules"
INNER = "within_training"
"""The study that the predictions of the inner folds belong to."""

REASONS, THRESHOLDS, CHOSEN = "reasons", "thresholds", "chosen"
"""The parts of the table of figures."""

ALL = "all"
AS_MEASURED, PER_FOLD = "as_measured", "per_fold"


class AbstentionSettings(Record):
    """What is asked of the abstentions; the section ``abstention`` of params.yaml."""

    feature_set: str
    step: float = Field(gt=0, le=0.1)
    precision: float = Field(gt=0, lt=1)

    @property
    def taus(self) -> Array:
        """The thresholds of the sweep, from one step up to 1."""
        return np.round(np.arange(1, round(1 / self.step) + 1) * self.step, 6)


def study_abstentions(
    failures: pl.DataFrame,
    successes: pl.DataFrame,
    splits: pl.DataFrame,
    predictions: pl.DataFrame,
    rules: ImprovedRulesSettings,
    settings: AbstentionSettings,
    intervals: IntervalSettings,
    seed: int,
    workers: int = 1,
) -> pl.DataFrame:
    """Explain the abstentions, sweep tau, and choose it on the training side of every fold.

    The tau of a fold is the lowest one with which the rules reach the precision on the scenarios
    that the fold trains on. Their predictions come from inner folds: fits that saw neither the
    scenario that they predict nor those of the tested fold, so that nothing of what is tested has a
    part in the choice. Where no tau reaches the precision, the fold abstains from everything.

    Parameters
    ----------
    failures, successes
        Feature tables of the main study's runs.
    splits
        Its repeats and folds.
    predictions
        What the improved rules answered in it; rows of ``predictions.PREDICTION_SCHEMA``.
    rules
        Their settings.
    settings
        Feature set, thresholds to sweep, and the precision that is asked for.
    intervals
        Resamples and confidence.
    seed
        Of the main study's fits.
    workers
        The result does not depend on it.

    Returns
    -------
    polars.DataFrame
        Keyed by (``part``, ``key``, ``metric``), with value, interval, ``n`` scenarios and
        estimand. Of the part ``reasons`` a key is a category, or ``all`` of them; of ``thresholds``
        a tau; of ``chosen`` the tau of the study itself, ``as_measured``, or that of each fold,
        ``per_fold``, whose own median and range over folds are the metric ``tau``.
    """
    own = predictions.filter(pl.col("feature_set") == settings.feature_set)
    columns = {settings.feature_set: FEATURE_SETS[settings.feature_set]}
    plans = within_training(INNER, splits)
    pairs = nested_cv(failures, successes, splits, RULES, rules, columns, seed, workers, plans)
    inner = by_tested_fold(pairs, splits)
    chosen = lowest_thresholds(inner, settings.taus, settings.precision, ("repeat", "fold"))
    judged = own.join(chosen.select("repeat", "fold", "tau"), on=("repeat", "fold"), how="left")
    # a confidence is never above one, so that a tau above it abstains from everything
    adjusted = at_threshold(judged, pl.col("tau").fill_null(2.0)).drop("tau")
    at_tau = {AS_MEASURED: own, PER_FOLD: adjusted}
    tables = [
        *(_reasons(category, part, intervals) for category, part in _by_category(own)),
        *_swept(own, settings.taus, intervals),
        *(interval_rows(CHOSEN, key, _worth(one, intervals)) for key, one in at_tau.items()),
        interval_rows(CHOSEN, PER_FOLD, _choices(chosen)),
    ]
    return pl.concat(tables).rename({"feature_set": "part", "method": "key"})


def _by_category(predictions: pl.DataFrame) -> Iterable[tuple[str, pl.DataFrame]]:
    yield ALL, predictions
    for category in CATEGORIES:
        part = predictions.filter(pl.col("category") == category)
        if part.height:
            yield category, part


def _reasons(category: str, predictions: pl.DataFrame, settings: IntervalSettings) -> pl.DataFrame:
    """How often the rules abstain from a category, and the share of each reason in that."""
    abstained = pl.col("prediction") == ABSTAIN
    rate = tuple(metric for metric in OVERALL if metric.name == "abstention_rate")
    shares = tuple(
        ValueMetric(
            f"share_{reason}",
            over_those(predictions, pl.col("reason").eq_missing(pl.lit(reason)), abstained),
            "ratio of two probabilities: that a new scenario is left undecided as "
            f"{reason.replace('_', ' ')}, over that it is left undecided",
            kind="proportion",
        )
        for reason in get_args(Reason)
        if predictions.select(abstained.any()).item()
    )
    found = scenario_intervals(scenario_answers(predictions), rate, settings, shares)
    return interval_rows(REASONS, category, found)


def _worth(predictions: pl.DataFrame, settings: IntervalSettings) -> dict[str, Interval]:
    return scenario_intervals(scenario_answers(predictions), (), settings, _at(predictions, ""))


def _at(predictions: pl.DataFrame, suffix: str) -> tuple[ValueMetric, ...]:
    """Coverage, accuracy and accuracy when committed, under names that end alike.

    Where nothing is committed on, there is no accuracy of it.
    """
    committed = pl.col("prediction") != ABSTAIN
    found = [
        ValueMetric(
            f"coverage{suffix}",
            over_scenarios(predictions, committed),
            "probability that a new scenario is diagnosed at all",
            kind="proportion",
        ),
        ValueMetric(
            f"accuracy{suffix}",
            over_scenarios(predictions, right()),
            "probability that a new scenario, drawn with these categories, is diagnosed right",
            kind="proportion",
        ),
    ]
    if predictions.select(committed.any()).item():
        found.append(
            ValueMetric(
                f"accuracy_when_committed{suffix}",
                over_committed(predictions, right()),
                "ratio of two probabilities: that a new scenario is diagnosed right, over that it "
                "is diagnosed at all",
                kind="proportion",
            )
        )
    return tuple(found)


def _swept(
    predictions: pl.DataFrame, taus: Array, settings: IntervalSettings
) -> Iterable[pl.DataFrame]:
    """What the rules are worth at each tau, all from the same resamples."""
    values = [
        figure for tau in taus for figure in _at(at_threshold(predictions, tau), f"@{tau:.2f}")
    ]
    found = scenario_intervals(scenario_answers(predictions), (), settings, tuple(values))
    for tau in taus:
        suffix = f"@{tau:.2f}"
        own = {
            name.removesuffix(suffix): one for name, one in found.items() if name.endswith(suffix)
        }
        yield interval_rows(THRESHOLDS, f"{tau:.2f}", own)


def _choices(chosen: pl.DataFrame) -> dict[str, Interval]:
    """The chosen thresholds: their median and range, and the share of folds that have one."""
    found = chosen["tau"].drop_nulls().to_numpy()
    share = len(found) / chosen.height
    figures = {
        "folds_with_a_threshold": (
            (share, share, share),
            chosen.height,
            "share of folds in which some threshold reaches the precision on the training side",
        )
    }
    if len(found):
        figures["tau"] = (
            (float(np.median(found)), float(found.min()), float(found.max())),
            len(found),
            "threshold chosen on the training side of a fold: median, lowest and highest",
        )
    return {
        name: Interval(
            value=value,
            ci_low=low,
            ci_high=high,
            n=n,
            method="range",
            resampling_unit="fold",
            estimand=estimand,
        )
        for name, ((value, low, high), n, estimand) in figures.items()
    }
