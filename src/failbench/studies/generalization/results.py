"""Generalization: what a method is worth on other architectures, and on scenarios that it knows."""

from __future__ import annotations

import polars as pl

from failbench.errors import BadInputError
from failbench.prediction.fold_plans import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import (
    IntervalSettings,
    interval_rows,
    nested_metrics,
    scenario_intervals,
)
from failbench.statistics.metrics import OVERALL
from failbench.statistics.scores import scenario_answers
from failbench.statistics.study_difference import study_difference

STUDIES = {
    NESTED_CV: "in the one architecture that it was trained on",
    POOLED: "in the architectures that it was trained on together",
    LEFT_OUT: "in an architecture that it was not trained on",
    KNOWN_SCENARIOS: "in an architecture that it was not trained on, the scenarios being known "
    "from the others and from other seeds",
}
"""The studies that are set side by side, and where each of them asks a method."""

GAIN = "gain_of_known_scenarios"
GAIN_ESTIMAND = (
    "how much more probable a right diagnosis is of a scenario that was trained on in other "
    "architectures and with other seeds"
)

Key = tuple[object, ...]
"""Study, feature set and method."""


def generalization_table(predictions: pl.DataFrame, settings: IntervalSettings) -> pl.DataFrame:
    """Rates of every method in every study.

    Parameters
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of all ``STUDIES``.
    settings
        Resamples, confidence, and the seed that all figures share.

    Returns
    -------
    polars.DataFrame
        One row a (``study``, ``feature_set``, ``method``, ``metric``), with value, interval,
        ``n`` scenarios and ``runs``. The unit that is resampled is the scenario: all its runs, of
        any seed and architecture, move together. A scenario that an architecture does not have is
        the mean of those runs that it has. ``gain_of_known_scenarios`` is the accuracy in
        ``known_scenarios`` less that in ``leave_one_architecture_out``, on the runs of the former.

    Raises
    ------
    BadInputError
        If there is no prediction of one of the studies.
    """
    found = set(predictions["study"])
    for study in STUDIES:
        if study not in found:
            raise BadInputError(
                "predictions",
                "study",
                f"there are none of {study}.",
                "Run `dvc repro` for the stages that predict.",
            )
    key = ["study", "feature_set", "method"]
    parts = []
    for one, part in predictions.sort(key).group_by(key, maintain_order=True):
        parts.append(_rates(one, part, settings))
    left_out = predictions.filter(pl.col("study").is_in([LEFT_OUT, KNOWN_SCENARIOS]))
    for one, part in left_out.sort(key).group_by(key[1:], maintain_order=True):
        gain = study_difference(part, KNOWN_SCENARIOS, LEFT_OUT, settings, GAIN_ESTIMAND)
        parts.append(_rows((KNOWN_SCENARIOS, *one), part, {GAIN: gain}))
    return pl.concat(parts)


def generalization_metrics(
    table: pl.DataFrame,
) -> dict[str, dict[str, dict[str, dict[str, dict[str, float]]]]]:
    """The table as ``{study: {feature_set: {method: {metric: {value, ci_low, ci_high, n}}}}}``."""
    return {study: nested_metrics(table.filter(pl.col("study") == study)) for study in STUDIES}


def _rates(key: Key, predictions: pl.DataFrame, settings: IntervalSettings) -> pl.DataFrame:
    intervals = scenario_intervals(scenario_answers(predictions), OVERALL, settings)
    named = {
        name: one.model_copy(update={"estimand": f"{one.estimand}; {STUDIES[str(key[0])]}"})
        for name, one in intervals.items()
    }
    return _rows(key, predictions, named)


def _rows(key: Key, predictions: pl.DataFrame, intervals: dict[str, Interval]) -> pl.DataFrame:
    study, feature_set, method = map(str, key)
    return interval_rows(feature_set, method, intervals).select(
        pl.lit(study).alias("study"),
        pl.all(),
        pl.lit(predictions["run_id"].n_unique()).alias("runs"),
    )
