"""Metrics: rates over confusions, other figures of scenarios, and what each of them estimates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, get_args

import numpy as np
import polars as pl
from pydantic import Field

from failbench.base.arrays import Array
from failbench.base.records import Record
from failbench.base.vocabulary import ABSTAIN, ANSWERS, AnswerReason, Reason, Route
from failbench.statistics.confidence import calibration_error, calibration_gaps
from failbench.statistics.scenario_values import (
    ScenarioValues,
    over_committed,
    over_scenarios,
    quotient,
    ratio,
    right,
    right_or_abstaining_on_unknown,
    squared_error,
    surprise,
)

Score = Callable[[Array, tuple[str, ...]], Array]
"""From confusions ``[..., n_repeats, n_categories, n_answers]`` and the categories to ``[...]``."""


def right_answers(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Shares on the diagonal, ``[..., n_categories]``; an abstention is never correct."""
    columns = [ANSWERS.index(category) for category in categories]
    diagonal: Array = confusion[..., np.arange(len(categories)), columns]
    return diagonal


def accuracy(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Correct / all, mean over repeats: the mean over scenarios of their mean correctness."""
    correct = right_answers(confusion, categories).sum(axis=-1) / confusion.sum(axis=(-2, -1))
    return _over_repeats(correct)


def recalls(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Recall of each category in each repeat, ``[..., n_repeats, n_categories]``."""
    return quotient(right_answers(confusion, categories), confusion.sum(axis=-1))


def balanced_accuracy(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Mean recall over categories, computed per repeat and averaged."""
    return _over_repeats(recalls(confusion, categories).mean(axis=-1))


def f1_scores(confusion: Array, categories: tuple[str, ...]) -> Array:
    """F1 of each category in each repeat; zero where it has neither runs nor answers."""
    columns = [ANSWERS.index(category) for category in categories]
    right = right_answers(confusion, categories)
    answered = confusion.sum(axis=-2)[..., columns]
    return quotient(2 * right, confusion.sum(axis=-1) + answered)


def macro_f1(confusion: Array, categories: tuple[str, ...]) -> Array:
    """Mean F1 over categories, computed per repeat and averaged."""
    return _over_repeats(f1_scores(confusion, categories).mean(axis=-1))


def abstention(confusion: Array, categories: tuple[str, ...]) -> Array:  # noqa: ARG001
    """Share of abstentions, mean over repeats."""
    abstained = confusion[..., ANSWERS.index(ABSTAIN)].sum(axis=-1)
    return _over_repeats(abstained / confusion.sum(axis=(-2, -1)))


def category_recall(confusion: Array, categories: tuple[str, ...], category: str) -> Array:
    """Recall of one category, mean over repeats."""
    return _over_repeats(recalls(confusion, categories)[..., categories.index(category)])


def category_f1(confusion: Array, categories: tuple[str, ...], category: str) -> Array:
    """F1 of one category, computed per repeat and averaged."""
    return _over_repeats(f1_scores(confusion, categories)[..., categories.index(category)])


def category_precision(confusion: Array, categories: tuple[str, ...], category: str) -> Array:
    """Share of a category among those it is named for: mean of repeats that name it, else 0."""
    right = confusion[..., categories.index(category), ANSWERS.index(category)]
    named = confusion[..., ANSWERS.index(category)].sum(axis=-1)
    return quotient(quotient(right, named).sum(axis=-1), (named > 0).sum(axis=-1))


def category_named(confusion: Array, categories: tuple[str, ...], category: str) -> Array:  # noqa: ARG001
    """Scenarios for which a category is named, of any category, mean over repeats."""
    return _over_repeats(confusion[..., ANSWERS.index(category)].sum(axis=-1))


def _over_repeats(values: Array) -> Array:
    return np.asarray(values.mean(axis=-1), dtype=np.float64)


@dataclass(frozen=True)
class Metric:
    """A score to report: its key in the metrics file, and what the value estimates, in words."""

    name: str
    score: Score
    estimand: str
    category: str | None = None  # the one category whose scenarios it is about, if any
    size: Score | None = None  # how many scenarios it is a share of, where the answers decide that


@dataclass(frozen=True)
class ValueMetric:
    """A figure besides the confusions, from sums ``[..., *trailing]``; a kind for its interval."""

    # A ``proportion`` is the ratio of its two sums; a ``distance``, from 0 to 1, is biased upwards.

    name: str
    values: ScenarioValues
    estimand: str
    score: Callable[[Array], Array] = ratio
    kind: Literal["proportion", "distance", "number"] = "number"


METRICS: Final[Mapping[str, Metric]] = {  # the scores over all categories, by name
    metric.name: metric
    for metric in (
        Metric(
            "accuracy",
            accuracy,
            "probability that a run of a new scenario, drawn with these categories, is diagnosed "
            "right",
        ),
        Metric(
            "balanced_accuracy",
            balanced_accuracy,
            "mean over categories of the probability that a run of a new scenario is diagnosed "
            "right",
        ),
        Metric(
            "macro_f1", macro_f1, "mean over categories of F1, computed per repeat and averaged"
        ),
        Metric(
            "abstention_rate",
            abstention,
            "probability that a run of a new scenario, drawn with these categories, is left "
            "undecided",
        ),
    )
}

OVERALL: Final = tuple(METRICS.values())


def proportion(name: str, values: ScenarioValues, estimand: str) -> ValueMetric:
    """A share of scenarios."""
    return ValueMetric(name, values, estimand, kind="proportion")


def commitment(predictions: pl.DataFrame) -> tuple[ValueMetric, ...]:
    """Coverage, accuracy, and accuracy when committed, where anything is."""
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
    of_category: tuple[tuple[str, Callable[..., Array], str], ...] = (
        ("recall", category_recall, "probability that a new {} scenario is diagnosed right"),
        ("f1", category_f1, "F1 of {}, computed per repeat and averaged"),
    )
    return (
        *METRICS.values(),
        *(
            Metric(
                f"{name}_{category}",
                partial(score, category=category),
                estimand.format(category),
                category,
            )
            for name, score, estimand in of_category
            for category in categories
        ),
    )


def precision_metrics(categories: tuple[str, ...]) -> tuple[Metric, ...]:
    """The precision of each category; of one that is never named there is none to ask for."""
    return tuple(
        Metric(
            f"precision_{category}",
            partial(category_precision, category=category),
            f"probability that a run of a new scenario is {category}, given that the method says "
            "so",
            size=partial(category_named, category=category),
        )
        for category in categories
    )


def value_metrics(predictions: pl.DataFrame, bins: int) -> tuple[ValueMetric, ...]:
    """What is reported of one method and feature set beside its confusions, as far as it has it."""
    figures = [
        proportion(
            "accuracy_abstaining_on_unknown",
            over_scenarios(predictions, right_or_abstaining_on_unknown()),
            "accuracy, were an abstention on an unknown scenario right",
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
        proportion(
            f"{prefix}_{value}",
            over_scenarios(predictions, pl.col(column).eq_missing(pl.lit(value))),
            f"probability that a run of a new scenario is {words} {value.replace('_', ' ')}",
        )
        for value in values
    )


class UnitCosts(Record):
    """Cost of one answer by route, assumed and not measured; the section ``costs``."""

    rules: float = Field(ge=0)
    classifier: float = Field(ge=0)
    human: float = Field(ge=0)

    def by_route(self) -> dict[Route, float]:
        """The costs, by the routes that diagnoses name."""
        return {"rules": self.rules, "classifier": self.classifier, "human": self.human}


def cost_metrics(predictions: pl.DataFrame, costs: UnitCosts) -> tuple[ValueMetric, ...]:
    """Mean cost of a hybrid's diagnosis; its interval is about who answers, at given costs."""
    # The paper's section 9.1 has C_auto (1 - P_abstain) + C_human P_abstain; a classifier that
    # answers some adds its share times its own cost.
    if predictions["route"].is_null().any():
        return ()
    cost = pl.col("route").replace_strict(costs.by_route(), return_dtype=pl.Float64)
    return (
        ValueMetric(
            "cost_per_run",
            over_scenarios(predictions, cost),
            "expected cost of a diagnosis of a run of a new scenario, in units of the assumed "
            "costs",
        ),
    )
