"""Language models: how often they are right, and how far their explanations hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from failbench.statistics.bootstrap import Interval
from failbench.statistics.estimates import ESTIMATE
from failbench.statistics.intervals import ScenarioIntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers

ACCURACY = tuple(metric for metric in OVERALL if metric.name == "accuracy")

ESTIMANDS = {
    "unreadable": (
        "probability that the answer to a run of a new scenario cannot be read, and so counts as "
        "wrong"
    ),
    "cites_evidence": "probability that the answer to a run of a new scenario cites any value",
    "evidence_found": (
        "mean share of the values cited for a new scenario that the record shows; an answer that "
        "cites none counts as zero"
    ),
    "evidence_points": (
        "mean share of the signals cited for a new scenario that speak for the category named; an "
        "answer that cites none counts as zero"
    ),
}
"""What is estimated of explanations, by column of ``measurements.EXPLANATION_SCHEMA``."""


@dataclass(frozen=True)
class AgentResult:
    """What one model answered."""

    answered: int
    runs: int
    estimates: Mapping[str, Interval]

    @property
    def available(self) -> bool:
        """Whether it answered every run."""
        return self.answered == self.runs


def agent_results(
    predictions: pl.DataFrame,
    explanations: pl.DataFrame,
    answered: pl.DataFrame,
    intervals: ScenarioIntervalSettings,
) -> dict[str, AgentResult]:
    """Score every model, by its label."""
    results = {}
    for label, answers, runs in answered.iter_rows():
        estimates: Mapping[str, Interval] = {}
        if answers == runs:
            of_model = pl.col("method") == label
            # The same answer stands in every repeat and for every feature set.
            once = predictions.filter(of_model).unique("run_id").sort("run_id")
            rows = once.join(explanations.filter(of_model), on="run_id", validate="1:1")
            estimates = _estimates(rows.with_columns(repeat=pl.lit(0)), intervals)
        results[label] = AgentResult(answers, runs, estimates)
    return results


def _estimates(rows: pl.DataFrame, settings: ScenarioIntervalSettings) -> dict[str, Interval]:
    values = tuple(
        ValueMetric(name, over_scenarios(rows, pl.col(name)), estimand, kind="proportion")
        for name, estimand in ESTIMANDS.items()
    )
    return scenario_intervals(scenario_answers(rows), ACCURACY, settings, values)


def agent_metrics(models: Mapping[str, AgentResult]) -> dict[str, dict[str, object]]:
    """Estimates by model as scalars, with ``available``, and ``answered`` of ``runs``."""
    return {
        label: {
            "available": result.available,
            "answered": result.answered,
            "runs": result.runs,
            **{
                name: estimate.model_dump(include={*ESTIMATE})
                for name, estimate in result.estimates.items()
            },
        }
        for label, result in models.items()
    }
