"""Rates: how often answers to monitored runs are right, and by how much that differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from failbench.methods.catalogue import MONITOR_METHODS
from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import over_committed, over_scenarios, right
from failbench.statistics.scores import scenario_answers
from failbench.vocabulary import ABSTAIN

METHODS: Final = (
    *(name for name in MONITOR_METHODS if name != "ebm_on_invariants"),
    "simple_rules",
    "improved_rules",
    "random_forest",
)
"""Methods of the study; the last stand beside those that read what the monitor knows.

The EBM on invariants, which is dear to fit, is in the main study alone."""

ACCURACY: Final = next(metric for metric in OVERALL if metric.name == "accuracy")


def rates_of(answers: pl.DataFrame, settings: ScenarioIntervalSettings) -> dict[str, Interval]:
    """Accuracy, accuracy of those that name a cause, and the share of those that do.

    An abstention is wrong in the first. Intervals resample scenarios within categories and then
    their seeds; where a category has a single scenario they are Wilson's, with n = scenarios.
    """
    collected = scenario_answers(answers)
    named = pl.col("prediction") != ABSTAIN
    figures = [
        ValueMetric(
            "coverage",
            over_scenarios(answers, named),
            "probability that a cause is named of a run of a new scenario",
            kind="proportion",
        )
    ]
    if answers.filter(named).height:
        figures.append(
            ValueMetric(
                "accuracy_when_committed",
                over_committed(answers, right()),
                "probability that a run of a new scenario is diagnosed right, given that a cause "
                "is named",
                kind="proportion",
            )
        )
    if min(collected.sizes) > 1:
        return scenario_intervals(collected, (ACCURACY,), settings, tuple(figures))
    value = float(ACCURACY.score(collected.confusion(), tuple(collected.shares)))
    rates = {ACCURACY.name: _wilson(value, collected.n, settings, ACCURACY.estimand)}
    for figure in figures:
        sums = figure.values.sums()
        value = float(figure.score(sums))
        rates[figure.name] = _wilson(value, float(sums[1]), settings, figure.estimand)
    return rates


def _wilson(value: float, n: float, settings: ScenarioIntervalSettings, estimand: str) -> Interval:
    low, high = wilson(value, n, settings.confidence)
    return Interval(
        value=value,
        ci_low=low,
        ci_high=high,
        n=round(n),
        method="Wilson",
        resampling_unit="scenario",
        estimand=estimand,
    )


def difference(
    left: pl.DataFrame, right_answers: pl.DataFrame, settings: ScenarioIntervalSettings
) -> Interval:
    """Accuracy of some answers less that of others to the same runs, in the same repeats.

    Where a category has a single scenario there is no interval.
    """
    other = right_answers.select("run_id", "repeat", other=pl.col("prediction"))
    paired = left.join(other, on=["run_id", "repeat"])
    value = right().cast(pl.Float64) - (pl.col("other") == pl.col("category")).cast(pl.Float64)
    figure = ValueMetric(
        "difference",
        over_scenarios(paired, value),
        "difference of the probabilities that a run of a new scenario is diagnosed right",
    )
    collected = scenario_answers(paired)
    if min(collected.sizes) > 1:
        return scenario_intervals(collected, (), settings, (figure,))["difference"]
    point = float(figure.score(figure.values.sums()))
    return Interval(
        value=point,
        ci_low=point,
        ci_high=point,
        n=collected.n,
        method="point",
        resampling_unit="scenario",
        estimand=figure.estimand,
    )


def method_table(
    predictions: pl.DataFrame,
    contrasts: Sequence[tuple[str, str]],
    settings: ScenarioIntervalSettings,
) -> pl.DataFrame:
    """Rates of methods that were fitted to the same runs, and named differences."""
    parts = []
    for (method,), rows in predictions.group_by("method", maintain_order=True):
        rates = rates_of(rows, settings)
        for left, other in contrasts:
            if left == method:
                answers = predictions.filter(pl.col("method") == other)
                rates[f"less_{other}"] = difference(rows, answers, settings)
        table = estimate_rows(rates, method=method)
        runs = rows["run_id"].n_unique()
        parts.append(table.with_columns(runs=pl.lit(runs, pl.Int32)))
    return pl.concat(parts)
