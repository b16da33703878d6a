"""The report of language models: whether they answered, and how often they are right."""

from __future__ import annotations

import polars as pl

from failbench.reporting.study_report import StudyReport, Summary
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.llm_agents.results import agent_metrics, agent_results


def report(
    predictions: pl.DataFrame,
    explanations: pl.DataFrame,
    answered: pl.DataFrame,
    intervals: ScenarioIntervalSettings,
) -> StudyReport:
    """Score every model that answered every run; of the others say how many they answered."""
    models = agent_results(predictions, explanations, answered, intervals)
    rows = [
        (label, str(result.available), result.answered, result.runs)
        for label, result in models.items()
    ]
    return StudyReport(
        metrics=agent_metrics(models),
        summary=(Summary(("model", "available", "answered", "runs"), rows),),
    )
