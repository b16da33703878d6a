"""Per category: the precision of every method, and its confusions."""

from __future__ import annotations

import polars as pl

from failbench.prediction.workers import parallel_map
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import precision_metrics
from failbench.statistics.scores import scenario_answers
from failbench.vocabulary import ABSTAIN, ANSWERS

MERGED = "unknown_or_abstain"
"""The label ``unknown`` and abstentions together, which the paper's Table 5 does not tell apart."""


def precision_table(
    predictions: pl.DataFrame, settings: ScenarioIntervalSettings, workers: int = 1
) -> pl.DataFrame:
    """Precision of every category that a method names, of every (feature_set, method).

    In a repeat it is the share of right answers among the scenarios for which the category is
    named, and the value is its mean over the repeats that name the category at all. Recall and F1
    are among the metrics of :func:`failbench.statistics.method_intervals.intervals_table`.
    """
    tasks = [(key, part, settings) for key, part in _methods(predictions)]
    return pl.concat(parallel_map(_precisions_of_method, tasks, workers))


def _precisions_of_method(
    key: tuple[str, str], predictions: pl.DataFrame, settings: ScenarioIntervalSettings
) -> pl.DataFrame:
    answers = scenario_answers(predictions)
    named = set(predictions["prediction"])
    metrics = precision_metrics(tuple(category for category in answers.shares if category in named))
    feature_set, method = key
    return estimate_rows(
        scenario_intervals(answers, metrics, settings), feature_set=feature_set, method=method
    )


def confusion_table(predictions: pl.DataFrame) -> pl.DataFrame:
    """How many scenarios of each category get each answer, of every (feature_set, method)."""
    rows = []
    for (feature_set, method), part in _methods(predictions):
        answers = scenario_answers(part)
        confusion = answers.confusion().mean(axis=0)
        for category, size, counts in zip(answers.shares, answers.sizes, confusion, strict=True):
            given = dict(zip(ANSWERS, counts.tolist(), strict=True))
            given[MERGED] = given["unknown"] + given[ABSTAIN]
            rows += [
                {
                    "feature_set": feature_set,
                    "method": method,
                    "category": category,
                    "answer": answer,
                    "scenarios": count,
                    "share": count / size,
                }
                for answer, count in given.items()
            ]
    return pl.DataFrame(rows)


def _methods(predictions: pl.DataFrame) -> list[tuple[tuple[str, str], pl.DataFrame]]:
    """The predictions of each feature set and method, in order."""
    parts = predictions.sort("feature_set", "method").group_by(
        "feature_set", "method", maintain_order=True
    )
    return [((str(feature_set), str(method)), part) for (feature_set, method), part in parts]
