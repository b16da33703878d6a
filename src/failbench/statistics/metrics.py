"""Metrics: the scores that are reported, as data, with what each of them estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, get_args

import polars as pl

from failbench.base.arrays import Array
from failbench.base.vocabulary import ABSTAIN, AnswerReason, Reason, Route
from failbench.statistics import scores
from failbench.statistics.calibration import calibration_error, calibration_gaps
from failbench.statistics.scenario_values import (
    ScenarioValues,
    over_committed,
    over_scenarios,
    ratio,
    right,
    right_or_abstaining_on_unknown,
    squared_error,
    surprise,
)
from failbench.statistics.scores import Score


@dataclass(frozen=True)
class Metric:
    """A score to report.

    Attributes
    ----------
    name
        Its key in the metrics file.
    score
        Function of the confusions.
    estimand
        What the value estimates, in words.
    category
        The one category whose scenarios it is about, if any.
    size
        How many scenarios it is a share of, a function of the confusions too, where the answers
        decide that.
    """

    name: str
    score: Score
    estimand: str
    category: str | None = None
    size: Score | None = None


@dataclass(frozen=True)
class ValueMetric:
    """A figure to report that is no score of the confusions.

    Attributes
    ----------
    name
        Its key in the metrics file.
    values
        What it sums over scenarios and their seeds.
    estimand
        What the value estimates, in words.
    score
        Function of the sums: from ``[..., *trailing]`` to ``[...]``.
    kind
        Which interval it gets: a ``proportion`` is a share of scenarios, its sums the two of a
        ratio; a ``distance`` is from 0 to 1 and biased upwards; a ``number`` is anything else.
    """

    name: str
    values: ScenarioValues
    estimand: str
    score: Callable[[Array], Array] = ratio
    kind: Literal["proportion", "distance", "number"] = "number"


OVERALL: tuple[Metric, ...] = (
    Metric(
        "accuracy",
        scores.accuracy,
        "probability that a run of a new scenario, drawn with these categories, is diagnosed right",
    ),
    Metric(
        "balanced_accuracy",
        scores.balanced_accuracy,
        "mean over categories of the probability that a run of a new scenario is diagnosed right",
    ),
    Metric(
        "macro_f1",
        scores.macro_f1,
        "mean over categories of F1, computed per repeat and averaged",
    ),
    Metric(
        "abstention_rate",
        scores.abstention,
        "probability that a run of a new scenario, drawn with these categories, is left undecided",
    ),
)


METRICS: Final[Mapping[str, Metric]] = {metric.name: metric for metric in OVERALL}


def proportion(name: str, values: ScenarioValues, estimand: str) -> ValueMetric:
    """A share of scenarios."""
    return ValueMetric(name, values, estimand, kind="proportion")


def commitment(predictions: pl.DataFrame) -> tuple[ValueMetric, ...]:
    """Coverage, accuracy and accuracy when committed.

    Where nothing is committed on, there is no accuracy of it.
    """
    committed = pl.col("prediction") != ABSTAIN
    rates = [
        proportion(
            "coverage",
            over_scenarios(predictions, committed),
            "probability that a run of a new scenario is diagnosed at all",
        ),
        proportion("accuracy", over_scenarios(predictions, right()), METRICS["accuracy"].estimand),
    ]
    if predictions.select(committed.any()).item():
        rates.append(accuracy_when_committed(predictions))
    return tuple(rates)


def accuracy_when_committed(predictions: pl.DataFrame) -> ValueMetric:
    """How often those are right that are no abstentions."""
    return proportion(
        "accuracy_when_committed",
        over_committed(predictions, right()),
        "ratio of two probabilities: that a run of a new scenario is diagnosed right, over that "
        "it is diagnosed at all",
    )


def metrics_for(categories: tuple[str, ...]) -> tuple[Metric, ...]:
    """The overall metrics, and recall and F1 of each category."""
    recalls = (
        Metric(
            f"recall_{category}",
            partial(scores.category_recall, category=category),
            f"probability that a new {category} scenario is diagnosed right",
            category,
        )
        for category in categories
    )
    f1_scores = (
        Metric(
            f"f1_{category}",
            partial(scores.category_f1, category=category),
            f"F1 of {category}, computed per repeat and averaged",
            category,
        )
        for category in categories
    )
    return (*OVERALL, *recalls, *f1_scores)


def precision_metrics(categories: tuple[str, ...]) -> tuple[Metric, ...]:
    """The precision of each category; of one that is never named there is none to ask for."""
    return tuple(
        Metric(
            f"precision_{category}",
            partial(scores.category_precision, category=category),
            f"probability that a run of a new scenario is {category}, given that the method says "
            "so",
            size=partial(scores.category_named, category=category),
        )
        for category in categories
    )


def value_metrics(predictions: pl.DataFrame, bins: int) -> tuple[ValueMetric, ...]:
    """What is reported of a method beside its confusions; what a method has not is left out.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of one method and one feature set.
    bins
        Of confidence, for the calibration error.
    """
    figures = [
        ValueMetric(
            "accuracy_abstaining_on_unknown",
            over_scenarios(predictions, right_or_abstaining_on_unknown()),
            "accuracy, were an abstention on an unknown scenario right",
            kind="proportion",
        ),
        ValueMetric(
            "brier",
            over_scenarios(predictions, squared_error()),
            "mean squared error of the probabilities of a run of a new scenario, summed over "
            "categories (0 to 2)",
        ),
        ValueMetric(
            "log_loss",
            over_scenarios(predictions, surprise()),
            "mean of minus the natural logarithm of the probability of the cause of a run of a "
            "new scenario",
        ),
    ]
    if (predictions["prediction"] != ABSTAIN).any():
        figures += [
            accuracy_when_committed(predictions),
            ValueMetric(
                "calibration_error",
                calibration_gaps(predictions, bins),
                "mean distance of accuracy from confidence in samples of this size, abstentions "
                "left out; read it beside its floor",
                calibration_error,
                "distance",
            ),
        ]
    if predictions["conditions"].is_not_null().any():
        figures.append(
            ValueMetric(
                "conditions_to_read",
                over_scenarios(predictions, pl.col("conditions")),
                "conditions to check in order to verify the diagnosis of a run of a new "
                "scenario, where there are any",
            )
        )
    return (
        *figures,
        *_shares(predictions, "reason", get_args(Reason), "abstained", "left undecided as"),
        *_shares(predictions, "reason", get_args(AnswerReason), "abstained", "left undecided as"),
        *_shares(predictions, "route", get_args(Route), "route", "answered by"),
    )


def _shares(
    predictions: pl.DataFrame, column: str, values: tuple[str, ...], prefix: str, words: str
) -> tuple[ValueMetric, ...]:
    """Share of each value of a column among all predictions, if the column holds any of them."""
    if not predictions[column].is_in(values).any():
        return ()
    return tuple(
        ValueMetric(
            f"{prefix}_{value}",
            over_scenarios(predictions, pl.col(column).eq_missing(pl.lit(value))),
            f"probability that a run of a new scenario is {words} {value.replace('_', ' ')}",
            kind="proportion",
        )
        for value in values
    )
