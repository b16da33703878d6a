"""Peers: other tools' answers to complete logs of the reference setting."""

from __future__ import annotations

from typing import Final

import polars as pl

from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import estimate_rows
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals, wilson
from failbench.statistics.metrics import ValueMetric
from failbench.statistics.scenario_values import over_committed, over_scenarios, right
from failbench.statistics.scores import scenario_answers
from failbench.vocabulary import ABSTAIN

PEER_KEYS: Final = ("method", "format", "metric")


def peer_table(
    answers: pl.DataFrame, runs: pl.DataFrame, intervals: ScenarioIntervalSettings
) -> pl.DataFrame:
    """Rates of each tool, in the format that it answers best in."""
    labelled = answers.join(runs, on="run_id").with_columns(repeat=pl.lit(0, pl.Int32))
    parts = []
    for (method,), of_method in labelled.group_by("method", maintain_order=True):
        failing = of_method.filter(kind="failure")
        rights = failing.group_by("format").agg(right().mean()).sort("prediction", "format")
        best = str(rights["format"][-1])
        taken = of_method.filter(format=best)
        rates = _rates(taken, intervals)
        table = estimate_rows(rates, method=str(method), format=best)
        logs = failing.filter(format=best).height
        parts.append(table.with_columns(logs=pl.lit(logs, pl.Int32)))
    return pl.concat(parts)


def _rates(answers: pl.DataFrame, intervals: ScenarioIntervalSettings) -> dict[str, Interval]:
    failing = answers.filter(kind="failure")
    named = pl.col("prediction") != ABSTAIN
    figures = [
        ValueMetric(
            "accuracy",
            over_scenarios(failing, right()),
            "probability that a run of a new scenario is diagnosed right, an abstention wrong",
            kind="proportion",
        ),
        ValueMetric(
            "named",
            over_scenarios(failing, named),
            "probability that a category is named of it",
            kind="proportion",
        ),
        ValueMetric(
            "detected",
            over_scenarios(failing, pl.col("detected")),
            "probability that something is found in it",
            kind="proportion",
        ),
    ]
    if failing.filter(named).height:
        figures.append(
            ValueMetric(
                "named_accuracy",
                over_committed(failing, right()),
                "probability that it is diagnosed right, given that a category is named",
                kind="proportion",
            )
        )
    rates = dict(scenario_intervals(scenario_answers(failing), (), intervals, tuple(figures)))
    like = rates["accuracy"]
    for kind in ("success", "twin"):
        healthy = answers.filter(kind=kind)
        if healthy.height:
            value = float(healthy["detected"].to_numpy().mean())
            low, high = wilson(value, healthy.height, intervals.confidence)
            rates[f"alarm_{kind}"] = like.model_copy(
                update={
                    "value": value,
                    "ci_low": low,
                    "ci_high": high,
                    "n": healthy.height,
                    "method": "Wilson",
                    "resampling_unit": "run",
                    "estimand": "probability that something is found in a healthy run",
                }
            )
    return rates
