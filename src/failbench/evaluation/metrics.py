"""Metrics: the scores that are reported, as data, with what each of them estimates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from failbench.evaluation import scores
from failbench.evaluation.scores import Score


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
    """

    name: str
    score: Score
    estimand: str
    category: str | None = None


OVERALL: tuple[Metric, ...] = (
    Metric(
        "accuracy",
        scores.accuracy,
        "probability that a new scenario, drawn with these categories, is diagnosed right",
    ),
    Metric(
        "balanced_accuracy",
        scores.balanced_accuracy,
        "mean over categories of the probability that a new scenario is diagnosed right",
    ),
    Metric(
        "macro_f1",
        scores.macro_f1,
        "mean over categories of F1, computed per repeat and averaged",
    ),
    Metric(
        "abstention_rate",
        scores.abstention,
        "probability that a new scenario, drawn with these categories, is left undecided",
    ),
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
